// @vitest-environment jsdom
import { expect, test } from 'vitest'
import { markdownToHtml } from '../src/lib/markdown'

function shown(text: string): HTMLElement {
  const element = document.createElement('div')
  element.innerHTML = markdownToHtml(text)
  return element
}

const ATTACKS = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg onload=alert(1)><script>alert(1)</script></svg>',
  '<iframe src="javascript:alert(1)"></iframe>',
  '<a href="javascript:alert(1)">press</a>',
  '[press](javascript:alert(1))',
  '[press](data:text/html;base64,PHNjcmlwdD4=)',
  '[press](  jAvAsCrIpT:alert(1))',
  '![picture](https://elsewhere.example/track.png)',
  '<p style="background:url(https://elsewhere.example)">text</p>',
  '<style>body { display: none }</style>',
  '<form action="https://elsewhere.example"><input name="password"></form>',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
  '`<script>`</script><script>alert(1)</script>',
]

test.each(ATTACKS)('nothing runs, styles or loads: %s', (text) => {
  const element = shown(text)
  expect(element.querySelector('script, style, iframe, img, svg, math, form, input, object, embed, link, meta, base')).toBeNull()
  for (const each of element.querySelectorAll('*'))
    for (const { name, value } of each.attributes) {
      expect(name).not.toMatch(/^on|^style$|^src|^background$/)
      expect(value).not.toMatch(/^\s*(javascript|data|vbscript):/i)
    }
})

test('headings, lists, tables, code and links of a model card', () => {
  const element = shown('# Fan\n\n- one\n- two\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n```\nx | y\n```\n\n**bold** [page](https://example.org)')
  expect(element.querySelector('h3')?.textContent).toBe('Fan')
  expect(element.querySelectorAll('li')).toHaveLength(2)
  expect([...element.querySelectorAll('td')].map((cell) => cell.textContent)).toEqual(['1', '2'])
  expect(element.querySelector('pre')?.textContent).toBe('x | y\n')
  expect(element.querySelector('a')?.outerHTML).toBe('<a href="https://example.org" target="_blank" rel="noopener noreferrer">page</a>')
})
