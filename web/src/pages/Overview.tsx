import { useLive, useMay, useNow, useSpeed, useZone } from '../api/useLive'
import type { MachineState } from '../api/types'
import { Empty } from '../components/Empty'
import { EventBanner } from '../components/EventBanner'
import { MachineCard } from '../components/MachineCard'
import { Shape } from '../components/Shape'
import { TroubleBanner } from '../components/TroubleBanner'
import { go, link, useRoute } from '../lib/route'
import { byUrgency, STATE_WORDS, STATES } from '../lib/states'

/** Few machines are drawn large on a wall screen. */
function crowd(count: number): string {
  if (count <= 6) return 'few'
  return count <= 15 ? 'some' : 'many'
}

export function Overview() {
  const { machines } = useLive()
  const zone = useZone()
  const now = useNow(15)
  const speed = useSpeed()
  const mayAdd = useMay('admin')
  const { query } = useRoute()
  const site = query.get('site') ?? ''
  const state = query.get('state') ?? ''
  const all = Object.values(machines)
  const sites = [...new Set(all.map((machine) => machine.site).filter(Boolean))].sort()
  const count = (wanted: MachineState) => all.filter((machine) => machine.state === wanted).length
  const shown = all
    .filter((machine) => (!site || machine.site === site) && (!state || machine.state === state))
    .sort(byUrgency)
  const filter = (part: { site?: string; state?: string }) => go(link('overview', '', { site, state, ...part }))
  return (
    <>
      <h1 className="unseen">Overview</h1>
      <TroubleBanner />
      <EventBanner />
      <div className="toolbar">
        <div className="buttons" role="group" aria-label="Only machines in this state">
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
              <Shape state={each} /> {STATE_WORDS[each]} {count(each)}
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
          {mayAdd && (
            <a className="button" href={link('add')}>
              Add a machine
            </a>
          )}
        </div>
      </div>
      {shown.length ? (
        <ul className={`cards ${crowd(shown.length)}`}>
          {shown.map((machine) => (
            <MachineCard key={machine.id} machine={machine} zone={zone} now={now} speed={speed} />
          ))}
        </ul>
      ) : (
        <Empty title={all.length ? 'No machine is like that just now.' : 'No machine is listened to yet.'}>
          {all.length ? (
            <a href={link('overview')}>Show all machines</a>
          ) : (
            <p>
              {mayAdd ? <a href={link('add')}>Add the first machine</a> : 'Someone with the role admin can add one'}, or
              name it in plant.yaml.
            </p>
          )}
        </Empty>
      )}
    </>
  )
}
