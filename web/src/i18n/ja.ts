/** All Japanese texts. */
import { catalogue, type Texts } from './catalogue'

export const texts = catalogue(import.meta.glob<Texts>('./ja/*.json', { eager: true, import: 'default' }))
