import { useState } from 'react'
import type { MachineStatus, OperatingPoint } from '../api/types'
import { put, url } from '../api/client'
import { useHasRole, useReload } from '../api/useLive'
import { t } from '../i18n'
import { onEscape, useReturnFocus } from '../lib/focus'
import { percent, score } from '../lib/numbers'
import { currentPoint, pointName } from '../lib/operatingPoints'
import { levelText } from '../lib/sensor'
import { useAction } from '../lib/useAction'
import { Panel } from './Panel'
import { ErrorMessage } from './ErrorMessage'

const LONGEST_NAME = 40

/** A name that can be edited in place: Enter saves, Escape cancels. */
function PointName({ machine, point }: { machine: MachineStatus; point: OperatingPoint }) {
  const isAdmin = useHasRole('admin')
  const reload = useReload()
  const { run, busy, error } = useAction()
  const [draft, setDraft] = useState<string | null>(null)
  const rename = useReturnFocus<HTMLButtonElement>(draft !== null)
  const shown = point.name || t('machine.points.unnamed', { number: point.number })
  const save = () =>
    run(() => put(url(`machines/${machine.id}/operating-points/${point.number}`), { name: draft?.trim() }).then(reload)).then(
      (done) => {
        if (done) setDraft(null)
      },
    )
  if (draft === null)
    return (
      <span className="buttons">
        <strong>{shown}</strong>
        {isAdmin && (
          <button
            ref={rename}
            type="button"
            className="small"
            aria-label={point.name ? t('machine.points.renamePoint', { point: shown }) : t('machine.points.addNameTo', { point: shown })}
            onClick={() => setDraft(point.name)}
          >
            {point.name ? t('machine.points.rename') : t('machine.points.addName')}
          </button>
        )}
      </span>
    )
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <input
        autoFocus
        value={draft}
        maxLength={LONGEST_NAME}
        placeholder={t('machine.points.example')}
        aria-label={t('machine.points.nameOf', { point: shown })}
        onKeyDown={onEscape(() => setDraft(null))}
        onChange={(event) => setDraft(event.target.value)}
      />
      <button type="submit" disabled={busy}>
        {t('machine.points.save')}
      </button>
      <button type="button" onClick={() => setDraft(null)}>
        {t('common.cancel')}
      </button>
      <ErrorMessage message={error} />
    </form>
  )
}

function sentence(machine: MachineStatus): string {
  const now = currentPoint(machine)
  const count = machine.operating_points.length
  if (machine.operating_point === 0) return t('machine.points.unknown')
  if (!now) return t('machine.points.undetermined')
  return t('machine.points.now', { point: pointName(now, count) })
}

/** Normal ways of running that were learned; nothing if there is only one. */
export function OperatingPoints({ machine }: { machine: MachineStatus }) {
  const points = machine.operating_points
  if (points.length < 2) return null
  return (
    <Panel title={t('machine.points.title')} className="wide">
      <p className={machine.operating_point === 0 ? 'warned' : ''}>{sentence(machine)}</p>
      <table className="points">
        <thead>
          <tr>
            <th scope="col">{t('machine.points.point')}</th>
            <th scope="col">{t('machine.points.share')}</th>
            <th scope="col" className="number">
              {t('machine.points.level')}
            </th>
            <th scope="col" className="number">
              {t('machine.points.usualScore')}
            </th>
            <th scope="col">{t('machine.points.nowColumn')}</th>
          </tr>
        </thead>
        <tbody>
          {points.map((point) => (
            <tr key={point.number} aria-current={point.number === machine.operating_point ? 'true' : undefined}>
              <td className="name">
                <PointName machine={machine} point={point} />
              </td>
              <td className="share">
                <span className="bar" aria-hidden="true">
                  <span className="fill" style={{ width: `${100 * point.share}%` }} />
                </span>
                {percent(point.share)}
              </td>
              <td className="number loudness">{levelText(point.level_dbfs, machine.sensor)}</td>
              <td className="number usual" data-title={t('machine.points.usualShort')}>{score(point.usual_score)}</td>
              <td className="now">{point.number === machine.operating_point && <span className="tag open">{t('machine.points.current')}</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  )
}
