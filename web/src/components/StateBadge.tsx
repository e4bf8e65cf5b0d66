import type { MachineState } from '../api/types'
import { STATE_HELP, STATE_WORDS } from '../lib/states'
import { Shape } from './Shape'

export function StateBadge({ state, large = false }: { state: MachineState; large?: boolean }) {
  return (
    <span className={`badge state-${state}${large ? ' large' : ''}`} title={STATE_HELP[state]}>
      <Shape state={state} />
      {STATE_WORDS[state]}
    </span>
  )
}
