import type { Spectrogram } from '../api/types'

/** The last seconds of sound as columns; null where no sound arrived. */
export interface LiveSpectrogram {
  hz: number[]
  end: number
  secondsPerColumn: number
  /** What the bytes 0 and 255 stand for. */
  lowDb: number
  highDb: number
  columns: (number[] | null)[]
}

/** Appends newer columns at their time; keeps as many as fit into `seconds`. */
export function extended(previous: LiveSpectrogram | null, part: Spectrogram, seconds: number): LiveSpectrogram {
  const step = part.seconds_per_column
  const count = Math.max(1, Math.round(seconds / step))
  const partEnd = part.begin + part.columns.length * step
  const fits = previous !== null && previous.secondsPerColumn === step && previous.hz.length === part.hz.length
  const before = fits ? previous : { columns: [] as (number[] | null)[], end: part.begin }
  const end = Math.max(before.end, partEnd)
  const columns: (number[] | null)[] = new Array(count).fill(null)
  const place = (placed: readonly (number[] | null)[], placedEnd: number) => {
    const last = count - 1 - Math.round((end - placedEnd) / step)
    placed.forEach((column, index) => {
      const at = last - (placed.length - 1 - index)
      if (column && at >= 0 && at < count) columns[at] = column
    })
  }
  place(before.columns, before.end)
  place(part.columns, partEnd)
  return { hz: part.hz, end, secondsPerColumn: step, lowDb: part.low_db, highDb: part.high_db, columns }
}

/** Where round frequencies are among the bins, 0 = bottom … 1 = top. */
export function frequencyTicks(hz: readonly number[], most = 6): { share: number; hz: number }[] {
  const round = [50, 100, 200, 500, 1000, 2000, 4000, 8000, 16000]
  const ticks = round.flatMap((value) => {
    const above = hz.findIndex((bin) => bin >= value)
    if (above < 1) return []
    const low = hz[above - 1] ?? 0
    const high = hz[above] ?? value
    return [{ hz: value, share: (above - 1 + (value - low) / (high - low) + 0.5) / hz.length }]
  })
  const distance = 1 / (most + 1)
  const kept: typeof ticks = []
  // From the top: high frequencies are what people look for first.
  for (const tick of ticks.reverse()) if (!kept.length || (kept.at(-1)?.share ?? 0) - tick.share >= distance) kept.push(tick)
  return kept
}
