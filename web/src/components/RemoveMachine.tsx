import type { Machine } from '../api/types'
import { remove, url } from '../api/client'
import { useMay, useReload } from '../api/useLive'
import { go, link } from '../lib/route'
import { useAction } from '../lib/useAction'
import { Ask } from './Ask'
import { Panel } from './Panel'
import { Problem } from './Problem'

/** Only for machines that were added here: those of the plant file are taken out there. */
export function RemoveMachine({ machine }: { machine: Machine }) {
  const may = useMay('admin')
  const reload = useReload()
  const action = useAction()
  if (!may || !machine.added) return null
  const name = machine.name || machine.id
  return (
    <Panel title="Remove this machine" className="wide">
      <p className="plain">It was added on this page and can be removed here.</p>
      <Ask
        offer="Remove"
        question={`Remove ${name}? It is no longer listened to, and what it has learnt and its settings go. Its scores and its events stay.`}
        yes={`Remove ${name}`}
        no="Keep it"
        danger
        action={action}
        work={async () => {
          await remove(url(`machines/${machine.id}`))
          go(link('overview'))
          await reload()
        }}
      />
      <Problem words={action.error} />
    </Panel>
  )
}
