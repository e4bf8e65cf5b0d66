/** What the service says, as JSON. Times are seconds since 1970, UTC; higher scores are odder. */

export type MachineState = 'starting' | 'learning' | 'off' | 'normal' | 'alert' | 'alarm' | 'lost'
export type Role = 'viewer' | 'operator' | 'admin'
export type EventKind = 'anomaly' | 'drift' | 'signal'
export type EventState = 'active' | 'acknowledged' | 'cleared'
export type EventLabel = '' | 'normal' | 'fault'

export interface Thresholds {
  alert: number
  alarm: number
  extrapolated: boolean
  words: string
}

export interface MachineThresholds extends Thresholds {
  alert_exit: number
  alarm_exit: number
  per_week: number
}

export interface MachineEvent {
  id: string
  machine: string
  kind: EventKind
  level: 'alert' | 'alarm'
  state: EventState
  began: number
  ended: number | null
  peak: number | null
  threshold: number | null
  words: string
  label: EventLabel
  acknowledged: { who: string; at: number } | null
  comments: { who: string; at: number; text: string }[]
  has_audio: boolean
  audio_begin: number | null
  top_bands_hz: [number, number][]
}

/** A usual way of running: a load or speed that was told apart while learning. */
export interface OperatingPoint {
  number: number
  name: string
  /** Of the time that was learnt, 0…1. */
  share: number
  level_dbfs: number
  /** Its usual score. */
  usual: number
}

export interface Machine {
  id: string
  name: string
  site: string
  kind: string
  model: string
  state: MachineState
  state_since: number
  muted_until: number | null
  score: number | null
  p_value: number | null
  level_dbfs: number | null
  thresholds: MachineThresholds | null
  operating_points: OperatingPoint[]
  /** Number of the one it runs at now; 0: like none of them; null: not known. */
  operating_point: number | null
  /** On the page, not in the plant file. */
  added: boolean
  drift: { words: string; since: number } | null
  /** End of the last sound that was heard; null: none yet. */
  last_sound: number | null
  source: { connected: boolean; words: string; drift_ppm: number; gaps: number; reconnects: number }
  learning: { seconds: number; wanted: number } | null
  open_events: number
  last_event: MachineEvent | null
  spark: [number, number][]
}

export interface Reading {
  machine: string
  time: number
  score: number | null
  state: MachineState
}

export interface You {
  name: string
  role: Role
}

export interface Plant {
  name: string
  zone: string
  version: string
  demo: boolean
  keeps_audio: boolean
  /** What was done and what went wrong, the newest last. */
  notes: string[]
  /** What is wrong right now. */
  troubles: string[]
  machines: Machine[]
  you: You
  speed: number
  now?: number
}

export interface Trend {
  seconds_per_point: number
  time: number[]
  low: (number | null)[]
  mean: (number | null)[]
  high: (number | null)[]
  state: MachineState[]
}

export interface Spectrum {
  hz: number[]
  now: (number | null)[]
  low: (number | null)[]
  mean: (number | null)[]
  high: (number | null)[]
}

/** Columns of bins, 0…255 from low_db to high_db; bin 0 is the lowest frequency. */
export interface Spectrogram {
  hz: number[]
  begin: number
  seconds_per_column: number
  columns: number[][]
  low_db: number
  high_db: number
  map?: number[][]
}

export interface Model {
  id: string
  machine: string
  system: string
  card_markdown: string
  sections: string[]
  clips: unknown
  made: unknown
}

export interface Session extends You {
  csrf: string
}
