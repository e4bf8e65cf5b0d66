import { useLive, useHasRole, useNow, useSpeed, useTimezone } from '../api/useLive'
import type { MachineState } from '../api/types'
import { EmptyState } from '../components/EmptyState'
import { EventBanner } from '../components/EventBanner'
import { LiveCard } from '../components/LiveCard'
import { StateIcon } from '../components/StateIcon'
import { ProblemBanner } from '../components/ProblemBanner'
import { SheddingBanner } from '../components/SheddingBanner'
import { UpgradeBanner } from '../components/UpgradeBanner'
import { t } from '../i18n'
import { rich } from '../i18n/rich'
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
  const group = query.get('group') ?? ''
  const state = query.get('state') ?? ''
  const all = Object.values(machines)
  const distinct = (of: 'site' | 'group') => [...new Set(all.map((machine) => machine[of]).filter(Boolean))].sort()
  const choices = [
    { name: 'site', value: site, names: distinct('site'), label: t('overview.site'), all: t('overview.allSites') },
    { name: 'group', value: group, names: distinct('group'), label: t('overview.group'), all: t('overview.allGroups') },
  ].filter(({ names, value }) => names.length > 1 || value)
  const count = (wantedState: MachineState) => all.filter((machine) => machine.state === wantedState).length
  const shown = all
    .filter((machine) => (!site || machine.site === site) && (!group || machine.group === group) && (!state || machine.state === state))
    .sort(byUrgency(now))
  const filter = (part: Record<string, string>) => go(link('overview', '', { site, group, state, ...part }))
  return (
    <>
      <h1 className="unseen">{t('overview.title')}</h1>
      <ProblemBanner />
      <SheddingBanner />
      <UpgradeBanner />
      <EventBanner />
      <div className="toolbar">
        <div className="buttons" role="group" aria-label={t('overview.filterByState')}>
          <button type="button" aria-pressed={!state} onClick={() => filter({ state: '' })}>
            {t('overview.all', { number: all.length })}
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
          {choices.map((choice) => (
            <label key={choice.name} className="inline">
              {choice.label}{' '}
              <select value={choice.value} onChange={(event) => filter({ [choice.name]: event.target.value })}>
                <option value="">{choice.all}</option>
                {choice.names.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            </label>
          ))}
          {isAdmin && (
            <a className="button" href={link('add')}>
              {t('overview.addMachine')}
            </a>
          )}
        </div>
      </div>
      {shown.length ? (
        <ul className={`cards ${density(shown.length)}`}>
          {shown.map((machine) => (
            <LiveCard key={machine.id} machine={machine} zone={zone} now={now} speed={speed} />
          ))}
        </ul>
      ) : (
        <EmptyState title={all.length ? t('overview.noMatch') : t('overview.noMachines')}>
          {all.length ? (
            <a href={link('overview')}>{t('overview.showAll')}</a>
          ) : (
            <p>{isAdmin ? rich('overview.addFirst', { a: (text) => <a href={link('add')}>{text}</a> }) : t('overview.askAdmin')}</p>
          )}
        </EmptyState>
      )}
    </>
  )
}
