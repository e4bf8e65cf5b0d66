/** Operating points in words: which way of running a machine was heard in, and is in now. */
import type { Machine, OperatingPoint } from '../api/types'

type Runs = Pick<Machine, 'operating_points' | 'operating_point'>

/** Its name, or its place: "point 2 of 3". */
export function pointName(point: OperatingPoint, count: number): string {
  return point.name || `point ${point.number} of ${count}`
}

export function currentPoint({ operating_points, operating_point }: Runs): OperatingPoint | undefined {
  return operating_points.find((point) => point.number === operating_point)
}

/** How it runs now, for the list of facts. */
export function runsAt(machine: Runs): string {
  const { operating_points: points, operating_point: number } = machine
  if (!points.length) return 'not learnt yet'
  if (number === 0) return 'like none that was learnt'
  if (points.length === 1) return 'one only'
  const now = currentPoint(machine)
  return now ? pointName(now, points.length) : 'not known just now'
}

/** " at half load", where the baseline is one of several; else nothing. */
export function atPoint(machine: Runs): string {
  const now = currentPoint(machine)
  const count = machine.operating_points.length
  return now && count > 1 ? ` at ${pointName(now, count)}` : ''
}
