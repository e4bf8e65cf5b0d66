/**
 * Colours of spectrograms: dark to bright with even steps of lightness, readable in grey and by
 * people with colour blindness.
 */
const STOPS: readonly [number, number, number][] = [
  [8, 10, 26],
  [32, 24, 82],
  [72, 30, 122],
  [125, 38, 122],
  [180, 52, 98],
  [225, 84, 66],
  [247, 138, 44],
  [251, 195, 74],
  [252, 246, 190],
]

function between(stops: readonly [number, number, number][], share: number): [number, number, number] {
  const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1)
  const index = Math.min(Math.floor(place), stops.length - 2)
  const from = stops[index] ?? [0, 0, 0]
  const to = stops[index + 1] ?? from
  const rest = place - index
  return [0, 1, 2].map((part) => {
    const start = from[part] ?? 0
    return Math.round(start + rest * ((to[part] ?? 0) - start))
  }) as [number, number, number]
}

/** 0…255 to red, green, blue. */
export const SCALE: readonly [number, number, number][] = Array.from({ length: 256 }, (_, value) =>
  between(STOPS, value / 255),
)

/** Cyan, which the scale does not have. */
export const ANOMALY_COLOUR: readonly [number, number, number] = [64, 245, 235]

/** How opaque the anomaly map is: transparent below a third, so that the sound stays visible. */
export function mapAlpha(value: number, opacity: number): number {
  const share = Math.max(0, value / 255 - 1 / 3) * 1.5
  return Math.round(255 * share * opacity)
}

export type Contrast = readonly [number, number]

/** The range of values for the colours: all but the quietest 2 % and the loudest 0.5 %. */
export function contrast(columns: readonly (readonly number[] | null)[]): Contrast {
  const counts = new Array<number>(256).fill(0)
  let total = 0
  for (const column of columns)
    for (const value of column ?? []) {
      counts[value] = (counts[value] ?? 0) + 1
      total++
    }
  const below = (share: number): number => {
    let seen = 0
    const index = counts.findIndex((count) => (seen += count) > share * total)
    return index < 0 ? 255 : index
  }
  const [low, high] = [below(0.02), below(0.995)]
  // Noise that hardly varies must not look like a sound.
  return high - low < 32 ? [Math.max(0, low - 16), Math.min(255, low + 32)] : [low, high]
}

/** RGBA pixels, low frequencies at the bottom; one pixel a column and bin. */
export function pixels(
  columns: readonly (readonly number[] | null)[],
  bins: number,
  [low, high]: Contrast,
): Uint8ClampedArray<ArrayBuffer> {
  const image = new Uint8ClampedArray(columns.length * bins * 4)
  const shade = (value: number) => Math.round(255 * Math.min(1, Math.max(0, (value - low) / (high - low))))
  columns.forEach((column, x) => {
    if (!column) return
    for (let bin = 0; bin < bins; bin++) {
      const [red, green, blue] = SCALE[shade(column[bin] ?? 0)] ?? [0, 0, 0]
      const at = ((bins - 1 - bin) * columns.length + x) * 4
      image[at] = red
      image[at + 1] = green
      image[at + 2] = blue
      image[at + 3] = 255
    }
  })
  return image
}

/** The anomaly map as RGBA pixels to draw over the spectrogram. */
export function overlay(map: readonly (readonly number[])[], bins: number, opacity: number): Uint8ClampedArray<ArrayBuffer> {
  const image = new Uint8ClampedArray(map.length * bins * 4)
  map.forEach((column, x) => {
    for (let bin = 0; bin < bins; bin++) {
      const at = ((bins - 1 - bin) * map.length + x) * 4
      image[at] = ANOMALY_COLOUR[0]
      image[at + 1] = ANOMALY_COLOUR[1]
      image[at + 2] = ANOMALY_COLOUR[2]
      image[at + 3] = mapAlpha(column[bin] ?? 0, opacity)
    }
  })
  return image
}
