import type { MachineStatus, OutputInfo } from '../api/types'

/** Machines that no notification is about, where there are notifications: often a mistyped group. */
export function toldNobody(outputs: OutputInfo[], machines: MachineStatus[]): MachineStatus[] {
  const people = outputs.filter((output) => output.kind === 'notify')
  if (people.length === 0 || people.some((output) => output.groups.length === 0)) return []
  return machines.filter((machine) => !people.some((output) => output.groups.includes(machine.group)))
}
