/** Every text that is used exists, every text that exists is used, and every language has all of them. */
import { expect, test } from 'vitest'
import { catalogue, type Texts } from '../src/i18n/catalogue'
import { texts as german } from '../src/i18n/de'
import { texts as english } from '../src/i18n/en'
import { texts as spanish } from '../src/i18n/es'
import { texts as japanese } from '../src/i18n/ja'
import { LANGUAGES, type Language } from '../src/i18n/language'
import { sourceFiles, walk, type Node } from './source'

/** Below these, keys are put together from what the service sends or from names in the code. */
const DYNAMIC = [
  'add.steps',
  'common.pages',
  'common.roles',
  'condition.between',
  'condition.grades',
  'condition.within',
  'diagnosis.columns',
  'diagnosis.data.geometry',
  'diagnosis.line',
  'diagnosis.short',
  'diagnosis.shows',
  'diagnosis.siblings',
  'diagnosis.speed',
  'events.labels',
  'help.keys',
  'history.filters.labels',
  'history.notes.kinds',
  'report.reasons',
  'operating.kinds',
  'listen.notPossible',
  'settings.themes',
  'settings.users.roles',
  'sources.examples',
  'sources.fields',
  'sources.help',
  'sources.names',
  'spectrum.when',
  'states.event',
  'states.help',
  'states.kinds',
  'states.names',
  'states.vibration',
  'trend.spans',
  'upgrade.news',
]

/** Keys may also be given to a component, as this attribute. */
const KEY_ATTRIBUTE = 'sentence'

/** All texts by their full keys: "area.name". */
function flat(texts: Texts, above = ''): Map<string, string> {
  return new Map(
    Object.entries(texts).flatMap(([name, text]): [string, string][] =>
      typeof text === 'string' ? [[above + name, text]] : [...flat(text, `${above}${name}.`)],
    ),
  )
}

/** Without the ending that chooses a plural. */
const base = (key: string) => key.replace(/_(zero|one|two|few|many|other)$/, '')
const ENGLISH = flat(english)
const KEYS = new Set([...ENGLISH.keys()].map(base))

/** Literals that a key is chosen from: 'a.b', or a condition between two. */
function literals(node: Node | undefined): string[] {
  if (node?.type === 'Literal') return [String(node.value)]
  if (node?.type === 'ConditionalExpression') return [...literals(node.consequent as Node), ...literals(node.alternate as Node)]
  return []
}

interface Used {
  place: string
  /** Empty where it is put together. */
  keys: string[]
  /** What a key that is put together begins with. */
  prefix: string
}

function usedKeys(): Used[] {
  const used: Used[] = []
  for (const { root, place } of sourceFiles())
    walk(root, (node) => {
      if (node.type === 'JSXAttribute' && (node.name as Node).name === KEY_ATTRIBUTE)
        used.push({ place: place(node), keys: literals(node.value as Node), prefix: '' })
      const name = node.type === 'CallExpression' ? (node.callee as Node).name : null
      if (name !== 't' && name !== 'rich' && name !== 'named') return
      const key = (node.arguments as Node[])[0]
      const [first] = key?.type === 'TemplateLiteral' ? (key.quasis as Node[]) : []
      const prefix = name === 'named' ? literals(key)[0] : (first?.value as { cooked: string } | undefined)?.cooked.replace(/\.$/, '')
      used.push({ place: place(node), keys: prefix === undefined ? literals(key) : [], prefix: prefix ?? '' })
    })
  return used
}

const isBelow = (key: string, prefix: string) => key.startsWith(`${prefix}.`)

test('every key that is used has an English text', () => {
  const missing = usedKeys().flatMap(({ place, keys }) => keys.filter((key) => !KEYS.has(key)).map((key) => `${place} ${key}`))
  expect(missing).toEqual([])
})

test('keys that are put together begin with one of the list', () => {
  const others = usedKeys().filter(({ prefix }) => prefix && !DYNAMIC.includes(prefix))
  expect(others.map(({ place, prefix }) => `${place} ${prefix}`)).toEqual([])
  expect(DYNAMIC.filter((prefix) => ![...KEYS].some((key) => isBelow(key, prefix)))).toEqual([])
})

test('every English text is used', () => {
  const used = usedKeys()
  const keys = new Set(used.flatMap((each) => each.keys))
  const prefixes = used.map(({ prefix }) => prefix).filter(Boolean)
  expect([...KEYS].filter((key) => !keys.has(key) && !prefixes.some((prefix) => isBelow(key, prefix)))).toEqual([])
})

const CATALOGUES: Record<Language, Texts> = { en: english, de: german, es: spanish, ja: japanese }

/** What the service says in English, by code; the page has it in the other languages. */
const SERVICE = flat({
  sentences: catalogue(import.meta.glob<Texts>('../../src/ssdpt/sentences/english/*.json', { eager: true, import: 'default' })),
})

/** The English texts that a language must have. */
function originals(language: Language): Map<string, string> {
  return language === 'en' ? ENGLISH : new Map([...ENGLISH, ...SERVICE])
}

/** The keys a language needs: plurals differ, Japanese has one form. */
function neededKeys(language: Language): string[] {
  const rules = new Intl.PluralRules(language)
  const forms = new Set(Array.from({ length: 1000 }, (_, count) => rules.select(count)))
  const texts = originals(language)
  const keys = new Set([...texts.keys()].map(base))
  return [...keys].flatMap((key) => (texts.has(key) ? [key] : [...forms].map((form) => `${key}_${form}`))).sort()
}

/** The {{values}} and <elements> of a text. */
function parts(text = ''): string[] {
  return [...new Set(text.match(/\{\{\w+\}\}|<\/?\w+>/g))].sort()
}

test.each(Object.keys(LANGUAGES) as Language[])('the texts of %s are those of English, with the same values', (language) => {
  const texts = flat(CATALOGUES[language])
  expect([...texts.keys()].sort()).toEqual(neededKeys(language))
  const different = [...texts].filter(([key, text]) => {
    const original = originals(language).get(key) ?? originals(language).get(`${base(key)}_other`)
    return parts(text).join() !== parts(original).join()
  })
  expect(different).toEqual([])
  expect([...texts].filter(([, text]) => !text)).toEqual([])
})
