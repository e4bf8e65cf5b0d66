/** The source code of the page as syntax trees, for tests of what it says. */
import { parseAst } from 'vite'

export interface Node {
  type: string
  start: number
  [field: string]: unknown
}

export interface SourceFile {
  path: string
  root: Node
  /** "src/App.tsx:12" */
  place: (node: Node) => string
}

const codes = import.meta.glob<string>('../src/**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true })

/** All files of the page but the types that are generated. */
export function sourceFiles(): SourceFile[] {
  return Object.entries(codes).flatMap(([from, code]) => {
    const path = from.replace('../', '')
    if (path === 'src/api/schema.ts') return []
    const root = parseAst(code, { lang: path.endsWith('x') ? 'tsx' : 'ts' }) as unknown as Node
    return [{ path, root, place: (node: Node) => `${path}:${code.slice(0, node.start).split('\n').length}` }]
  })
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

export function children(node: Node): Node[] {
  return Object.values(node).flatMap((value) => (Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : []))
}

/** Visits a tree from its root; the children of a node for which `visit` returns false are left out. */
export function walk(node: Node, visit: (node: Node) => boolean | void): void {
  if (visit(node) === false) return
  children(node).forEach((child) => walk(child, visit))
}

/** The texts that an expression may become; not those given to functions. */
export function possibleTexts(node: Node | null | undefined): { node: Node; text: string }[] {
  const of = (field: string) => possibleTexts(node?.[field] as Node | null)
  switch (node?.type) {
    case 'Literal':
      return typeof node.value === 'string' ? [{ node, text: node.value }] : []
    case 'TemplateLiteral':
      return [
        ...(node.quasis as Node[]).map((quasi) => ({ node: quasi, text: (quasi.value as { cooked: string }).cooked })),
        ...(node.expressions as Node[]).flatMap(possibleTexts),
      ]
    case 'ConditionalExpression':
      return [...of('consequent'), ...of('alternate')]
    case 'LogicalExpression':
    case 'BinaryExpression':
      return node.operator === '===' || node.operator === '!==' ? [] : [...of('left'), ...of('right')]
    case 'JSXExpressionContainer':
      return of('expression')
    default:
      return []
  }
}
