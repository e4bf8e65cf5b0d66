import type { MachineStatus } from '../api/types'
import { remove, url } from '../api/client'
import { useHasRole, useReload } from '../api/useLive'
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
    <Panel title="Remove this machine" className="wide">
      <p className="plain">It was added on this page and can be removed here.</p>
      <ConfirmButton
        title="Remove"
        question={`Remove ${name}? It is no longer monitored, and its model and settings are deleted. Its scores and events stay.`}
        confirm={`Remove ${name}`}
        cancel="Keep it"
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
