import type { BackupSize } from '../api/types'
import { url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { byteSize } from '../lib/byteSize'
import { t } from '../i18n'
import { ErrorMessage } from './ErrorMessage'
import { Panel } from './Panel'

/** Everything that the service keeps, as one file; the browser shows how far the download is. */
export function BackupPanel() {
  const { content, error } = useFetched<BackupSize>(url('backup/size'))
  return (
    <Panel title={t('account.backup.title')}>
      <p>
        {t('account.backup.text')} {content && t('account.backup.size', { size: byteSize(content.bytes) })}
      </p>
      <div className="buttons">
        <a className="button" href={url('backup')} download>
          {t('account.backup.download')}
        </a>
      </div>
      <ErrorMessage message={error} />
      <p>{t('account.backup.restore')}</p>
      <pre className="command">
        {t('account.backup.command')
          .split(' ')
          .map((word) => (
            <span key={word}>{word} </span>
          ))}
      </pre>
      <p className="soft">{t('account.backup.secret')}</p>
    </Panel>
  )
}
