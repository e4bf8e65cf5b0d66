/** All German texts. */
import { catalogue, type Texts } from './catalogue'

export const texts = catalogue(import.meta.glob<Texts>('./de/*.json', { eager: true, import: 'default' }))
