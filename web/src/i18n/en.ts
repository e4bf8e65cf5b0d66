/** All English texts: other languages fall back to them. */
import { catalogue, type Texts } from './catalogue'

export const texts = catalogue(import.meta.glob<Texts>('./en/*.json', { eager: true, import: 'default' }))
