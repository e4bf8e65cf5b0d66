/** Operating points: the normal ways in which a machine runs. */
import type { MachineStatus, OperatingPoint } from '../api/types'
import { t } from '../i18n'
import { speedAndLoad } from './operatingData'

type WithPoints = Pick<MachineStatus, 'operating_points' | 'operating_point'>

/** Its name, or its speed and load, or its number: "point 2 of 3". */
export function pointName(point: OperatingPoint, count: number): string {
  return point.name || speedAndLoad(point) || t('machine.points.numbered', { number: point.number, total: count })
}

export function currentPoint({ operating_points, operating_point }: WithPoints): OperatingPoint | undefined {
  return operating_points.find((point) => point.number === operating_point)
}

/** The current one, for the list of facts. */
export function currentPointText(machine: WithPoints): string {
  const { operating_points: points, operating_point: number } = machine
  if (!points.length) return t('machine.points.notLearned')
  if (number === 0) return t('machine.points.isUnknown')
  if (points.length === 1) return t('machine.points.onlyOne')
  const current = currentPoint(machine)
  return current ? pointName(current, points.length) : t('machine.points.isUndetermined')
}

/** "half load", where there are several; else empty. */
export function oneOfSeveral(machine: WithPoints): string {
  const current = currentPoint(machine)
  const count = machine.operating_points.length
  return current && count > 1 ? pointName(current, count) : ''
}
