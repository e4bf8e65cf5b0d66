import type { Spectrogram } from '../api/types'

/** The last seconds of sound as columns; null where nothing was heard. */
export interface Waterfall {
  hz: number[]
  end: number
  secondsPerColumn: number
  columns: (number[] | null)[]
}

/** Puts newer columns behind those known, at their time; keeps as many as fit into `seconds`. */
export function extended(known: Waterfall | null, part: Spectrogram, seconds: number): Waterfall {
  const step = part.seconds_per_column
  const wanted = Math.max(1, Math.round(seconds / step))
  const partEnd = part.begin + part.columns.length * step
  const fits = known !== null && known.secondsPerColumn === step && known.hz.length === part.hz.length
  const before = fits ? known : { columns: [] as (number[] | null)[], end: part.begin }
  const end = Math.max(before.end, partEnd)
  const columns: (number[] | null)[] = new Array(wanted).fill(null)
  const place = (given: readonly (number[] | null)[], givenEnd: number) => {
    const last = wanted - 1 - Math.round((end - givenEnd) / step)
    given.forEach((column, index) => {
      const at = last - (given.length - 1 - index)
      if (column && at >= 0 && at < wanted) columns[at] = column
    })
  }
  place(before.columns, before.end)
  place(part.columns, partEnd)
  return { hz: part.hz, end, secondsPerColumn: step, columns }
}

/** Where round frequencies lie among the bins, 0 = bottom … 1 = top. */
export function frequencyMarks(hz: readonly number[], most = 6): { share: number; hz: number }[] {
  const round = [50, 100, 200, 500, 1000, 2000, 4000, 8000, 16000]
  const marks = round.flatMap((value) => {
    const above = hz.findIndex((bin) => bin >= value)
    if (above < 1) return []
    const low = hz[above - 1] ?? 0
    const high = hz[above] ?? value
    return [{ hz: value, share: (above - 1 + (value - low) / (high - low) + 0.5) / hz.length }]
  })
  const apart = 1 / (most + 1)
  const kept: typeof marks = []
  // From the top: high frequencies are what people look for first.
  for (const mark of marks.reverse()) if (!kept.length || (kept.at(-1)?.share ?? 0) - mark.share >= apart) kept.push(mark)
  return kept
}
