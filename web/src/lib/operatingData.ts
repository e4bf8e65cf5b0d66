/** Run state, speed and load of a machine, as its control system reports them. */
import type { MachineStatus } from '../api/types'
import { listed, t } from '../i18n'
import { figures, fixed } from './numbers'
import { duration } from './time'

interface SpeedAndLoad {
  speed_rpm: number | null
  load_percent: number | null
}

/** 1480 rpm */
export function speedText(rpm: number | null): string {
  return rpm === null ? t('operating.unknown') : t('operating.rpm', { number: figures(rpm) })
}

/** 61 % */
export function loadText(percent: number | null): string {
  return percent === null ? t('operating.unknown') : t('operating.percent', { number: fixed(percent) })
}

/** "1480 rpm, 61 % load"; empty where neither is known. */
export function speedAndLoad({ speed_rpm, load_percent }: SpeedAndLoad): string {
  return listed([
    speed_rpm === null ? '' : speedText(speed_rpm),
    load_percent === null ? '' : t('operating.loaded', { load: loadText(load_percent) }),
  ])
}

type WithData = Pick<MachineStatus, 'operating_data' | 'operating_data_source'>

/** Whether the control system says that the machine runs. */
export function runText({ operating_data: data }: WithData): string {
  if (data?.running == null) return t('operating.unknown')
  return data.running ? t('operating.running') : t('operating.stopped')
}

/** What of it is too old, or has not come: the sound alone decides then. */
export function ageWarning({ operating_data: data, operating_data_source: source }: WithData, now: number): string {
  if (!source) return ''
  if (!data) return t('operating.never')
  const isKnown = data.running !== null || data.speed_rpm !== null || data.load_percent !== null
  if (isKnown) return ''
  const age = duration(Math.max(0, now - data.at))
  return source.max_age === null ? t('operating.disconnected', { age }) : t('operating.tooOld', { age, limit: duration(source.max_age) })
}
