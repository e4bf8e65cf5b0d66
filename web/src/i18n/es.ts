/** All Spanish texts. */
import { catalogue, type Texts } from './catalogue'

export const texts = catalogue(import.meta.glob<Texts>('./es/*.json', { eager: true, import: 'default' }))
