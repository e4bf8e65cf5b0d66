import type { MachineWeek, WeeklyReport } from '../api/types'
import { t } from '../i18n'
import { fixed, percent } from '../lib/numbers'
import { NOTE_KINDS } from '../lib/notes'
import { hasSnapshots, hasStreams, reasons, totals } from '../lib/report'
import { link } from '../lib/route'
import { date } from '../lib/time'
import { EventTable } from './EventTable'
import { Panel } from './Panel'

/** A cell that does not apply. */
const NONE = '–'

interface Props {
  report: WeeklyReport
  /** The week, for people. */
  title: string
}

/** All parts of a weekly report. */
export function WeekReport({ report, title }: Props) {
  const zone = report.timezone
  return (
    <div className="report">
      <p className="lead">
        <strong>{report.plant}</strong> {title}
      </p>
      {!report.is_over && <p className="plain">{t('report.running', { time: date(report.until, zone) })}</p>}
      <Figures report={report} />
      <Panel title={t('report.worse')}>
        <Worse report={report} />
      </Panel>
      <Panel title={t('report.events')}>
        {report.events.length ? <EventTable events={report.events} withMachine /> : <p className="plain">{t('report.noEvents')}</p>}
        {report.events_left_out > 0 && <p className="plain">{t('report.leftOut', { count: report.events_left_out })}</p>}
      </Panel>
      <Panel title={t('report.machines')}>
        <Machines report={report} />
      </Panel>
      {report.notes.length > 0 && (
        <Panel title={t('report.notes')}>
          <ul className="findings plain-list">
            {report.notes.map((note) => (
              <li key={note.id}>
                {t('history.notes.mark', {
                  kind: NOTE_KINDS[note.kind],
                  time: date(note.at, zone),
                  text: `${nameOf(report, note.machine)}: ${note.text}`,
                  who: note.who,
                })}
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </div>
  )
}

function nameOf({ machines }: WeeklyReport, id: string): string {
  return machines.find(({ machine }) => machine === id)?.name ?? id
}

function Figures({ report }: { report: WeeklyReport }) {
  const sum = totals(report)
  const figures: [string, string, string][] = [
    [t('report.events'), String(sum.events), ''],
    [t('report.inAlarm'), String(sum.alarms), ''],
    [t('report.unacknowledged'), String(sum.unacknowledged), ''],
    [t('report.falseAlerts'), String(sum.falseAlerts), ''],
  ]
  if (hasStreams(report))
    figures.push(
      [t('report.listened'), fixed(sum.listened, 1), sum.share === null ? '' : t('report.listenedShare', { share: percent(sum.share) })],
      [t('report.lost'), fixed(sum.lost, 1), ''],
    )
  if (hasSnapshots(report)) figures.push([t('report.measurements'), fixed(sum.measurements), ''])
  return (
    <dl className="report-figures">
      {figures.map(([name, figure, more]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {figure} {more && <span className="soft">{more}</span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Worse({ report }: { report: WeeklyReport }) {
  const worse = report.machines.filter((machine) => machine.worse.length || machine.outlook)
  if (!worse.length)
    return <p className="plain">{report.machines.some((each) => each.enough_history) ? t('report.noneWorse') : t('report.noHistory')}</p>
  return (
    <ul className="worse">
      {worse.map((machine) => (
        <li key={machine.machine}>
          <a href={link('machine', machine.machine)}>{machine.name}</a> {machine.site && <span className="soft">{machine.site}</span>}
          <ul className="findings">
            {reasons(machine, report.timezone).map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  )
}

/** A machine is listened to, or measured at intervals: what it is not has no figure. */
function Machines({ report }: { report: WeeklyReport }) {
  const [withHours, withMeasurements] = [hasStreams(report), hasSnapshots(report)]
  const heads = [t('report.events'), t('report.inAlarm'), t('report.falseAlerts')]
  if (withHours) heads.push(t('report.listened'), t('report.lost'))
  if (withMeasurements) heads.push(t('report.measurements'))
  const cells = (machine: MachineWeek) => [
    ...[machine.events, machine.alarms, machine.false_alerts].map((count) => fixed(count)),
    ...(withHours ? [machine.listened_hours, machine.lost_hours].map((hours) => (hours === null ? NONE : fixed(hours, 1))) : []),
    ...(withMeasurements ? [machine.measurements === null ? NONE : fixed(machine.measurements)] : []),
  ]
  return (
    <div className="scrolled">
      <table className="report-machines">
        <thead>
          <tr>
            <th scope="col">{t('report.machine')}</th>
            {heads.map((head) => (
              <th key={head} scope="col" className="number">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {report.machines.map((machine) => (
            <tr key={machine.machine}>
              <th scope="row">
                <a href={link('machine', machine.machine)}>{machine.name}</a>
              </th>
              {cells(machine).map((cell, index) => (
                <td key={index} className="number" data-title={heads[index]}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
