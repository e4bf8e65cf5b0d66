/** Everything that people read comes from the catalogues. */
import { expect, test } from 'vitest'
import { possibleTexts, sourceFiles, walk, type Node, type SourceFile } from './source'

/** Attributes that people see or hear, of elements and of the components of the page. */
const VISIBLE = new Set([
  'alt', 'aria-description', 'aria-label', 'aria-roledescription', 'aria-valuetext', 'band', 'cancel', 'confirm', 'description',
  'label', 'line', 'message', 'missing', 'placeholder', 'question', 'summary', 'text', 'title',
])

/** Names that are the same in all languages: the product, units, and axes of a sensor. */
const NAMES = new Set(['ssdpt', 'x, y, z', 'Hz', 'kHz', 'dB', 'dBFS'])

/** Words beside each other are a sentence, a single word may be a name in the code. */
const SENTENCE = /\p{L}{2,}[,:;.]? \p{L}+/u

/** Words beside each other that are for the browser. */
const FOR_BROWSERS = [
  ':host {',
  'px sans-serif',
  '(pointer: coarse)',
  '(prefers-color-scheme: dark)',
  'noopener noreferrer',
  'change-point state-',
  'tip to-left',
]

/** Where words beside each other are nothing to read: classes, paths of a drawing, keys of a chart. */
const UNREAD = new Set(['className', 'd', 'version', 'key', 'keys', 'sentence', 'style'])

const isText = (text: string) => /\p{L}/u.test(text) && !NAMES.has(text.trim())
const isSentence = (text: string) => SENTENCE.test(text) && isText(text) && !FOR_BROWSERS.some((other) => text.trim().startsWith(other))

function strayTexts({ root, place }: SourceFile): string[] {
  const found = new Set<string>()
  const report = (node: Node, text: string) => found.add(`${place(node)} ${text.trim()}`)
  const check = (node: Node | null) => possibleTexts(node).forEach(({ node: at, text }) => isText(text) && report(at, text))
  walk(root, (node) => {
    switch (node.type) {
      case 'ImportDeclaration':
        return false
      case 'JSXText':
        if (isText(String(node.value))) report(node, String(node.value))
        return
      case 'JSXElement':
      case 'JSXFragment':
        ;(node.children as Node[]).filter(({ type }) => type === 'JSXExpressionContainer').forEach(check)
        return
      case 'JSXAttribute': {
        const name = (node.name as Node).name as string
        if (VISIBLE.has(name)) check(node.value as Node | null)
        return !UNREAD.has(name)
      }
      case 'Literal':
      case 'TemplateLiteral':
        possibleTexts(node).forEach(({ node: at, text }) => isSentence(text) && report(at, text))
    }
  })
  return [...found]
}

test('no text is written into the code', () => {
  const files = sourceFiles()
  expect(files.length).toBeGreaterThan(90)
  expect(files.flatMap(strayTexts)).toEqual([])
})
