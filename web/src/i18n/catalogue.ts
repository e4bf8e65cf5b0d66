/** Texts by area and key; a text may lie deeper, below a common name. */
export interface Texts {
  [key: string]: string | Texts
}

/** The texts of one language, from files named `<language>/<area>.json`. */
export function catalogue(files: Record<string, Texts>): Texts {
  return Object.fromEntries(Object.entries(files).map(([path, texts]) => [path.replace(/^.*\/|\.json$/g, ''), texts]))
}
