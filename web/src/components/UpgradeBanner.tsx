import { remove, url } from '../api/client'
import { useLive, useReload, useTimezone } from '../api/useLive'
import { t } from '../i18n'
import { newsSince } from '../lib/news'
import { useAction } from '../lib/useAction'
import { stamp } from '../lib/time'
import { ErrorMessage } from './ErrorMessage'
import { allTranslated } from '../lib/sentences'

/** What changed with a new release, until the user has read it. */
export function UpgradeBanner() {
  const { upgrade } = useLive()
  const zone = useTimezone()
  const reload = useReload()
  const { run, busy, error } = useAction()
  if (!upgrade) return null
  const { from_version: from, to_version: to } = upgrade
  const news = newsSince(from)
  const hasDetails = news.length > 0 || upgrade.backup !== '' || upgrade.config_changes.length > 0
  return (
    <section className="upgrade" aria-labelledby="upgrade-title">
      <header>
        <h2 id="upgrade-title">{t('upgrade.title')}</h2>
        <button type="button" disabled={busy} onClick={() => void run(() => remove(url('upgrade')).then(reload))}>
          {t('upgrade.dismiss')}
        </button>
      </header>
      <p>
        {from && from !== to ? t('upgrade.fromTo', { from, to }) : t('upgrade.to', { to })}{' '}
        {t('upgrade.at', { time: stamp(upgrade.at, zone) })}
      </p>
      {/* On a phone the machines come first. */}
      {hasDetails && (
        <details open={window.matchMedia('(min-width: 48rem)').matches}>
          <summary>{t('upgrade.show')}</summary>
          {news.length > 0 && (
            <ul>
              {news.map(([name, text]) => (
                <li key={name}>{text}</li>
              ))}
            </ul>
          )}
          {upgrade.backup && (
            <p>
              {t('upgrade.migrated', { from: upgrade.from_tables, to: upgrade.to_tables })} {t('upgrade.backup')} <code>{upgrade.backup}</code>
            </p>
          )}
          {upgrade.config_changes.length > 0 && (
            <>
              <p>{t('upgrade.config')}</p>
              <ul>
                {allTranslated(upgrade.config_changes, upgrade.config_change_sentences).map((change) => (
                  <li key={change}>{change}</li>
                ))}
              </ul>
            </>
          )}
        </details>
      )}
      <ErrorMessage message={error} />
    </section>
  )
}
