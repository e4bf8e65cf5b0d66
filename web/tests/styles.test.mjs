/** Style sheets hold nothing that people read: it would stay English. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const FOLDER = new URL('../src/styles/', import.meta.url)

test('no text is written into the style sheets', () => {
  const styles = readdirSync(FOLDER).map((name) => readFileSync(new URL(name, FOLDER), 'utf8'))
  const contents = styles.flatMap((style) => style.match(/(?<![-\w])content:[^;]*/g) ?? [])
  expect(contents).toContain("content: attr(data-title) ' '")
  expect(contents.filter((content) => /'[^']*\p{L}[^']*'/u.test(content))).toEqual([])
})
