/** What releases bring, for users who come from an earlier one. */
import { named } from '../i18n'

interface News {
  /** The last version without them. */
  after: string
  /** Sentences by their names. */
  texts: Readonly<Record<string, string>>
}

const NEWS: readonly News[] = [
  { after: '0.1.0', texts: named('upgrade.news', ['listen', 'notify', 'diagnose', 'remember', 'setup', 'operating', 'languages']) },
]

/** Whether a version is later than another; both as in 0.10.2. */
function isLater(version: string, other: string): boolean {
  return version.localeCompare(other, 'en', { numeric: true }) > 0
}

/** Sentences by their names: what has come since version `from`. Stores up to 0.1.0 note none, which is empty here. */
export function newsSince(from: string): [string, string][] {
  return NEWS.filter(({ after }) => !isLater(from, after)).flatMap(({ texts }) => Object.entries(texts))
}
