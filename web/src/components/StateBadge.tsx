import type { MachineState } from '../api/types'
import { STATE_HELP, STATE_NAMES } from '../lib/states'
import { StateIcon } from './StateIcon'

export function StateBadge({ state, large = false }: { state: MachineState; large?: boolean }) {
  return (
    <span className={`badge state-${state}${large ? ' large' : ''}`} title={STATE_HELP[state]}>
      <StateIcon state={state} />
      {STATE_NAMES[state]}
    </span>
  )
}
