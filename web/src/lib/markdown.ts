/**
 * The little Markdown that model cards use, as data: it becomes React elements, never HTML, so a card
 * cannot bring a script along.
 */
export type Inline =
  | { kind: 'text' | 'code' | 'strong' | 'em'; text: string }
  | { kind: 'link'; text: string; href: string }

export type Block =
  | { kind: 'heading'; level: number; content: Inline[] }
  | { kind: 'paragraph'; content: Inline[] }
  | { kind: 'list'; ordered: boolean; items: Inline[][] }
  | { kind: 'code'; text: string }
  | { kind: 'quote'; content: Inline[] }
  | { kind: 'rule' }
  | { kind: 'table'; head: Inline[][]; rows: Inline[][][] }

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)\s]+)\)/g

export function inline(text: string): Inline[] {
  const made: Inline[] = []
  let from = 0
  for (const match of text.matchAll(INLINE)) {
    if (match.index > from) made.push({ kind: 'text', text: text.slice(from, match.index) })
    const [whole, code, strong, em, label, href] = match
    if (code !== undefined) made.push({ kind: 'code', text: code })
    else if (strong !== undefined) made.push({ kind: 'strong', text: strong })
    else if (em !== undefined) made.push({ kind: 'em', text: em })
    else if (label !== undefined && href !== undefined && /^https?:\/\//i.test(href))
      made.push({ kind: 'link', text: label, href })
    else made.push({ kind: 'text', text: label ?? whole })
    from = match.index + whole.length
  }
  if (from < text.length) made.push({ kind: 'text', text: text.slice(from) })
  return made
}

function cells(line: string): Inline[][] {
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '')
  return inner.split('|').map((cell) => inline(cell.trim()))
}

const ITEM = /^\s*(?:[-*+]|(\d+)\.)\s+(.*)$/
const DIVIDER = /^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$/

export function parse(markdown: string): Block[] {
  const lines = markdown.replace(/\r\n?/g, '\n').replace(/^---\n[\s\S]*?\n---\n/, '').split('\n')
  const blocks: Block[] = []
  let at = 0
  const line = () => lines[at] ?? ''
  const take = (wanted: (text: string) => boolean): string[] => {
    const begin = at
    while (at < lines.length && wanted(line())) at++
    return lines.slice(begin, at)
  }
  while (at < lines.length) {
    const heading = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line())
    if (!line().trim()) at++
    else if (heading) {
      blocks.push({ kind: 'heading', level: heading[1]?.length ?? 1, content: inline(heading[2] ?? '') })
      at++
    } else if (line().startsWith('```')) {
      at++
      blocks.push({ kind: 'code', text: take((text) => !text.startsWith('```')).join('\n') })
      at++
    } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line())) {
      blocks.push({ kind: 'rule' })
      at++
    } else if (line().includes('|') && DIVIDER.test(lines[at + 1] ?? '')) {
      const head = cells(line())
      at += 2
      blocks.push({ kind: 'table', head, rows: take((text) => text.includes('|')).map(cells) })
    } else if (line().startsWith('>')) {
      const quoted = take((text) => text.startsWith('>')).map((text) => text.replace(/^>\s?/, ''))
      blocks.push({ kind: 'quote', content: inline(quoted.join(' ')) })
    } else if (ITEM.test(line())) {
      const ordered = ITEM.exec(line())?.[1] !== undefined
      const items: string[] = []
      for (const text of take((next) => ITEM.test(next) || /^\s+\S/.test(next))) {
        const item = ITEM.exec(text)
        if (item) items.push(item[2] ?? '')
        else items.push(`${items.pop() ?? ''} ${text.trim()}`)
      }
      blocks.push({ kind: 'list', ordered, items: items.map(inline) })
    } else {
      // The first line is taken in any case: each turn of the loop must move on.
      const first = line()
      at++
      const rest = take((text) => text.trim() !== '' && !/^(#{1,6}\s|```|>)/.test(text) && !ITEM.test(text))
      blocks.push({ kind: 'paragraph', content: inline([first, ...rest].join(' ')) })
    }
  }
  return blocks
}
