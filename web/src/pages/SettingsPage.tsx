import { useContext, useState } from 'react'
import { remove, url } from '../api/client'
import { LiveContext, useLive, useHasRole } from '../api/useLive'
import { BackupPanel } from '../components/BackupPanel'
import { OwnPassword } from '../components/OwnPassword'
import { LanguageChoice } from '../components/LanguageChoice'
import { Outputs } from '../components/Outputs'
import { Panel } from '../components/Panel'
import { ErrorMessage } from '../components/ErrorMessage'
import { Users } from '../components/Users'
import { t } from '../i18n'
import { beep, isToneOn, setTone } from '../lib/beep'
import { ROLE_NAMES } from '../lib/roles'
import { link } from '../lib/route'
import { choose, useChosenTheme, type Theme } from '../lib/theme'
import { useAction } from '../lib/useAction'
import { allTranslated } from '../lib/sentences'

const THEMES: readonly Theme[] = ['auto', 'light', 'dark']

export function SettingsPage() {
  const { service, user } = useLive()
  const live = useContext(LiveContext)
  const theme = useChosenTheme()
  const isAdmin = useHasRole('admin')
  const [sounds, setSounds] = useState(isToneOn)
  const { run, error } = useAction()
  const signOut = () =>
    run(async () => {
      await remove(url('session'))
      live.signedOut()
    })
  return (
    <div className="narrow">
      <h1>{t('settings.title')}</h1>
      <Panel title={t('settings.display')}>
        <div className="buttons" role="group" aria-label={t('settings.theme')}>
          {THEMES.map((name) => (
            <button key={name} type="button" aria-pressed={theme === name} onClick={() => choose(name)}>
              {t(`settings.themes.${name}`)}
            </button>
          ))}
        </div>
        <LanguageChoice />
        <label className="inline">
          <input
            type="checkbox"
            checked={sounds}
            onChange={(event) => {
              setTone(event.target.checked)
              setSounds(event.target.checked)
              if (event.target.checked) beep()
            }}
          />{' '}
          {t('settings.tone')}
        </label>
      </Panel>
      {user && user.name !== 'local' && (
        <>
          <Panel title={t('settings.account')}>
            <p>{t('settings.user', { name: user.name, role: ROLE_NAMES[user.role] })}</p>
            <div className="buttons">
              <button type="button" onClick={() => void signOut()}>
                {t('settings.signOut')}
              </button>
            </div>
            <ErrorMessage message={error} />
          </Panel>
          <OwnPassword />
        </>
      )}
      <Outputs />
      {isAdmin && <Users />}
      {isAdmin && <BackupPanel />}
      <Panel title={t('settings.about')}>
        <dl className="facts">
          <dt>{t('settings.timeZone')}</dt>
          <dd>{service?.timezone}</dd>
          <dt>{t('settings.recordings')}</dt>
          <dd>{service?.keeps_audio ? t('settings.kept') : t('settings.notKept')}</dd>
          <dt>{t('settings.version')}</dt>
          <dd>{`ssdpt ${service?.version}`}</dd>
        </dl>
        {service && service.notes.length > 0 && (
          <ul aria-label={t('settings.notes')}>
            {allTranslated(service.notes, service.note_sentences).map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        )}
        <p>
          <a href={link('models')}>{t('common.pages.models')}</a> · <a href="docs">{t('settings.apiDocumentation')}</a>
        </p>
      </Panel>
    </div>
  )
}
