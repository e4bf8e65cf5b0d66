import { t } from '../i18n'
import { chooseLanguage, LANGUAGES, useLanguage, type Language } from '../i18n/language'
import { useAction } from '../lib/useAction'
import { ErrorMessage } from './ErrorMessage'

/** The language of the page, in this browser; each is listed by its own name. */
export function LanguageChoice() {
  const shown = useLanguage()
  const { run, busy, error } = useAction()
  const choose = (name: Language) => run(() => chooseLanguage(name))
  return (
    <>
      <label className="inline">
        {t('settings.language')}{' '}
        <select value={shown} aria-busy={busy} onChange={(event) => void choose(event.target.value as Language)}>
          {Object.entries(LANGUAGES).map(([name, title]) => (
            <option key={name} value={name} lang={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <ErrorMessage message={error && t('settings.languageFailed')} />
    </>
  )
}
