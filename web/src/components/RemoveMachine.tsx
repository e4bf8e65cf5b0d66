import type { MachineStatus } from '../api/types'
import { remove, url } from '../api/client'
import { useHasRole, useReload } from '../api/useLive'
import { t } from '../i18n'
import { go, link } from '../lib/route'
import { useAction } from '../lib/useAction'
import { ConfirmButton } from './ConfirmButton'
import { Panel } from './Panel'
import { ErrorMessage } from './ErrorMessage'

/** Only for machines that were added on the page, not for those of the configuration file. */
export function RemoveMachine({ machine }: { machine: MachineStatus }) {
  const isAdmin = useHasRole('admin')
  const reload = useReload()
  const action = useAction()
  if (!isAdmin || !machine.added_on_page) return null
  const name = machine.name || machine.id
  return (
    <Panel title={t('machine.removal.title')} className="wide">
      <p className="plain">{t('machine.removal.explanation')}</p>
      <ConfirmButton
        title={t('common.remove')}
        question={t('machine.removal.question', { machine: name })}
        confirm={t('machine.removal.confirm', { machine: name })}
        cancel={t('machine.removal.keep')}
        danger
        action={action}
        work={async () => {
          await remove(url(`machines/${machine.id}`))
          go(link('overview'))
          await reload()
        }}
      />
      <ErrorMessage message={action.error} />
    </Panel>
  )
}
