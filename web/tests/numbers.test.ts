// @vitest-environment jsdom
import { expect, test } from 'vitest'
import { showLanguage, type Language } from '../src/i18n/language'
import { bandEnds, figures, fixed, hertz, percent, score } from '../src/lib/numbers'
import table from './numbers.json'

/** How the page writes each kind of number. */
const WRITTEN: Record<string, (...values: number[]) => string | string[]> = {
  score: (value) => score(value),
  whole: (value = 0) => fixed(value),
  tenths: (value = 0) => fixed(value, 1),
  figures: (value = 0) => figures(value),
  hertz: (value = 0) => hertz(value),
  percent: (share = 0) => percent(share),
  band: (low = 0, high = 0) => bandEnds([low, high]),
}

type Row = [string, number[], (string | string[])[]]
const rows = table.rows as unknown as Row[]

test.each(table.languages.map((name, index) => [name, index] as const))(
  'numbers read as in mails and reports of the service, in %s',
  async (name, index) => {
    await showLanguage(name as Language)
    expect(new Set(rows.map(([what]) => what))).toEqual(new Set(Object.keys(WRITTEN)))
    const shown = rows.map(([what, values]) => [what, values, WRITTEN[what]?.(...values)])
    expect(shown).toEqual(rows.map(([what, values, texts]) => [what, values, texts[index]]))
  },
)
