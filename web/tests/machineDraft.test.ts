import { expect, test } from 'vitest'
import fixtures from '../mock/fixtures.json'
import type { MachineSettings } from '../src/api/types'
import { byteSize } from '../src/lib/byteSize'
import { EMPTY_DRAFT, sameSource, toDraft, toSettings } from '../src/lib/machineDraft'

const stored = fixtures.MachineDefinition.settings as unknown as MachineSettings

test('an unchanged draft is the stored settings', () => {
  expect(toSettings(toDraft(stored), stored)).toMatchObject({ id: stored.id, name: stored.name, source: stored.source, alarm: { min_duration: 3 } })
})

test('what the form does not show stays as it is', () => {
  const base = { ...stored, source: { kind: 'network', url: 'rtsp://a', timeout: 7 }, machine_data: { speed_rpm: 1480 } } as unknown as MachineSettings
  const changed = toSettings({ ...toDraft(base), fields: { url: 'rtsp://b', channel: '' } }, base)
  expect(changed).toMatchObject({ source: { kind: 'network', url: 'rtsp://b', timeout: 7 }, machine_data: { speed_rpm: 1480 } })
})

test('another kind of source has nothing of the one before', () => {
  const base = { ...stored, source: { kind: 'network', url: 'rtsp://a', timeout: 7 } } as unknown as MachineSettings
  const changed = toSettings({ ...toDraft(base), kind: 'microphone', fields: { device: 'USB' } }, base)
  expect(changed['source']).toEqual({ kind: 'microphone', device: 'USB' })
  expect(sameSource(toDraft(base), { ...toDraft(base), kind: 'microphone' })).toBe(false)
  expect(sameSource(toDraft(base), { ...toDraft(base), name: 'Other' })).toBe(true)
})

test('a field that was emptied goes back to its default', () => {
  const base = { ...stored, alarm: { ...stored.alarm, off_below_dbfs: -60 } } as unknown as MachineSettings
  const draft = toDraft(base)
  expect(draft.alarm.offBelow).toBe('-60')
  expect(toSettings({ ...draft, alarm: { ...draft.alarm, offBelow: '' } }, base)['alarm']).not.toHaveProperty('off_below_dbfs')
})

test('a new machine says only what was entered', () => {
  expect(toSettings({ ...EMPTY_DRAFT, name: 'Band saw', kind: 'pushed' })).toEqual({
    id: 'band-saw', name: 'Band saw', site: '', source: { kind: 'pushed' }, sensor: {},
  })
})

test('sizes of files', () => {
  expect([1, 45_000, 3_400_000, 12_000_000, 2.5e12].map(byteSize)).toEqual(['1 kB', '45 kB', '3.4 MB', '12 MB', '2.5 TB'])
})
