import { expect, test } from 'vitest'
import type { MachineStatus, OutputInfo } from '../src/api/types'
import { toldNobody } from '../src/lib/outputs'

const MACHINES = [
  { id: 'pump', group: 'mechanics' },
  { id: 'fan', group: 'mechnics' },
  { id: 'saw', group: '' },
] as MachineStatus[]

const output = (kind: string, ...groups: string[]) => ({ kind, groups }) as OutputInfo
const unheard = (...outputs: OutputInfo[]) => toldNobody(outputs, MACHINES).map((machine) => machine.id)

test('a group that no notification names is told to nobody', () => {
  expect(unheard(output('notify', 'mechanics'), output('webhook'))).toEqual(['fan', 'saw'])
  expect(unheard(output('notify', 'mechanics'), output('notify'))).toEqual([])
  // Without notifications there is another sentence, or a control system has its own.
  expect(unheard(output('mqtt'))).toEqual([])
})
