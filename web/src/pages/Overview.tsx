import { useLive, useHasRole, useNow, useSpeed, useTimezone } from '../api/useLive'
import type { MachineState } from '../api/types'
import { EmptyState } from '../components/EmptyState'
import { EventBanner } from '../components/EventBanner'
import { MachineCard } from '../components/MachineCard'
import { StateIcon } from '../components/StateIcon'
import { ProblemBanner } from '../components/ProblemBanner'
import { go, link, useRoute } from '../lib/route'
import { byUrgency, STATE_NAMES, STATES } from '../lib/states'

/** Few machines are drawn large on a wall screen. */
function density(count: number): string {
  if (count <= 6) return 'few'
  return count <= 15 ? 'some' : 'many'
}

export function Overview() {
  const { machines } = useLive()
  const zone = useTimezone()
  const now = useNow(15)
  const speed = useSpeed()
  const isAdmin = useHasRole('admin')
  const { query } = useRoute()
  const site = query.get('site') ?? ''
  const state = query.get('state') ?? ''
  const all = Object.values(machines)
  const sites = [...new Set(all.map((machine) => machine.site).filter(Boolean))].sort()
  const count = (wantedState: MachineState) => all.filter((machine) => machine.state === wantedState).length
  const shown = all
    .filter((machine) => (!site || machine.site === site) && (!state || machine.state === state))
    .sort(byUrgency(now))
  const filter = (part: { site?: string; state?: string }) => go(link('overview', '', { site, state, ...part }))
  return (
    <>
      <h1 className="unseen">Overview</h1>
      <ProblemBanner />
      <EventBanner />
      <div className="toolbar">
        <div className="buttons" role="group" aria-label="Filter by state">
          <button type="button" aria-pressed={!state} onClick={() => filter({ state: '' })}>
            All {all.length}
          </button>
          {STATES.filter((each) => count(each) > 0 || each === state).map((each) => (
            <button
              key={each}
              type="button"
              className={`state-${each}`}
              aria-pressed={state === each}
              onClick={() => filter({ state: state === each ? '' : each })}
            >
              <StateIcon state={each} /> {STATE_NAMES[each]} {count(each)}
            </button>
          ))}
        </div>
        <div className="buttons">
          {sites.length > 1 && (
            <label className="inline">
              Site{' '}
              <select value={site} onChange={(event) => filter({ site: event.target.value })}>
                <option value="">all</option>
                {sites.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            </label>
          )}
          {isAdmin && (
            <a className="button" href={link('add')}>
              Add a machine
            </a>
          )}
        </div>
      </div>
      {shown.length ? (
        <ul className={`cards ${density(shown.length)}`}>
          {shown.map((machine) => (
            <MachineCard key={machine.id} machine={machine} zone={zone} now={now} speed={speed} />
          ))}
        </ul>
      ) : (
        <EmptyState title={all.length ? 'No machine matches this filter.' : 'There are no machines yet.'}>
          {all.length ? (
            <a href={link('overview')}>Show all machines</a>
          ) : (
            <p>
              {isAdmin ? <a href={link('add')}>Add the first machine</a> : 'Ask your administrator to add one'}, or name it in
              the configuration file.
            </p>
          )}
        </EmptyState>
      )}
    </>
  )
}
