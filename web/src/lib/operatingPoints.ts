/** Operating points: the normal ways in which a machine runs. */
import type { MachineStatus, OperatingPoint } from '../api/types'

type WithPoints = Pick<MachineStatus, 'operating_points' | 'operating_point'>

/** Its name, or its number: "point 2 of 3". */
export function pointName(point: OperatingPoint, count: number): string {
  return point.name || `point ${point.number} of ${count}`
}

export function currentPoint({ operating_points, operating_point }: WithPoints): OperatingPoint | undefined {
  return operating_points.find((point) => point.number === operating_point)
}

/** The current one, for the list of facts. */
export function currentPointText(machine: WithPoints): string {
  const { operating_points: points, operating_point: number } = machine
  if (!points.length) return 'not learned yet'
  if (number === 0) return 'unknown operating point'
  if (points.length === 1) return 'only one'
  const current = currentPoint(machine)
  return current ? pointName(current, points.length) : 'not determined'
}

/** " at half load", where there are several; else empty. */
export function atCurrentPoint(machine: WithPoints): string {
  const current = currentPoint(machine)
  const count = machine.operating_points.length
  return current && count > 1 ? ` at ${pointName(current, count)}` : ''
}
