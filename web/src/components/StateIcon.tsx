import type { MachineState } from '../api/types'

/** A shape for every state, so that no state is shown by colour alone. */
const PATHS: Record<MachineState, string> = {
  alarm: 'M12 2 23 21H1Z M12 9v5 M12 17.5v.5',
  alert: 'M12 1.5 22.5 12 12 22.5 1.5 12Z M12 7.5v5 M12 16v.5',
  lost: 'M4 4l16 16 M20 4 4 20',
  normal: 'M12 2a10 10 0 1 0 .01 0Z M7 12.5l3.5 3.5L17 9',
  learning: 'M4 20V12 M10 20V5 M16 20v-9 M21 20v-4',
  off: 'M4 4h16v16H4Z',
  starting: 'M12 3a9 9 0 0 1 9 9 M21 12a9 9 0 0 1-9 9',
}

export function StateIcon({ state }: { state: MachineState }) {
  return (
    <svg className={`state-icon icon-${state}`} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      {PATHS[state].split(/ (?=M)/).map((path, index) => (
        <path key={path} d={path} className={index === 0 ? 'body' : 'sign'} />
      ))}
    </svg>
  )
}
