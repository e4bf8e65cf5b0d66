/** Spectrogram of a recording, computed in the browser to compare a normal sample with an event. */

const WINDOW = 1024

/** In place, radix 2; length a power of two. */
export function fft(real: Float64Array, imaginary: Float64Array): void {
  const size = real.length
  for (let index = 1, other = 0; index < size; index++) {
    let bit = size >> 1
    for (; other & bit; bit >>= 1) other ^= bit
    other ^= bit
    if (index < other) {
      ;[real[index], real[other]] = [real[other] ?? 0, real[index] ?? 0]
      ;[imaginary[index], imaginary[other]] = [imaginary[other] ?? 0, imaginary[index] ?? 0]
    }
  }
  for (let length = 2; length <= size; length <<= 1) {
    const half = length / 2
    for (let start = 0; start < size; start += length)
      for (let step = 0; step < half; step++) {
        const angle = (-2 * Math.PI * step) / length
        const cosine = Math.cos(angle)
        const sine = Math.sin(angle)
        const low = start + step
        const high = low + half
        const a = real[high] ?? 0
        const b = imaginary[high] ?? 0
        const turnedReal = a * cosine - b * sine
        const turnedImaginary = a * sine + b * cosine
        real[high] = (real[low] ?? 0) - turnedReal
        imaginary[high] = (imaginary[low] ?? 0) - turnedImaginary
        real[low] = (real[low] ?? 0) + turnedReal
        imaginary[low] = (imaginary[low] ?? 0) + turnedImaginary
      }
  }
}

/** First and last line of the Fourier transform in each band; at least one line. */
function lines(hz: readonly number[], rate: number): [number, number][] {
  const line = (value: number) => Math.min(WINDOW / 2, Math.round((value * WINDOW) / rate))
  return hz.map((centre, bin) => {
    const low = line((centre + (hz[bin - 1] ?? centre)) / 2)
    const high = line((centre + (hz[bin + 1] ?? centre)) / 2)
    return [low, Math.max(low + 1, high)]
  })
}

/** Level in dB of every band at every `step` seconds. */
export function levels(samples: Float32Array, rate: number, hz: readonly number[], step: number): number[][] {
  const reach = lines(hz, rate)
  const hop = Math.max(1, Math.round(step * rate))
  const columns: number[][] = []
  for (let begin = 0; begin + WINDOW <= samples.length; begin += hop) {
    const real = Float64Array.from({ length: WINDOW }, (_, index) => {
      const weight = 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / WINDOW)
      return (samples[begin + index] ?? 0) * weight
    })
    const imaginary = new Float64Array(WINDOW)
    fft(real, imaginary)
    columns.push(
      reach.map(([low, high]) => {
        let power = 0
        for (let line = low; line < high; line++) power += (real[line] ?? 0) ** 2 + (imaginary[line] ?? 0) ** 2
        return 10 * Math.log10(power / (high - low) + 1e-10)
      }),
    )
  }
  return columns
}

function means(columns: readonly (readonly number[])[], bins: number): number[] {
  return Array.from({ length: bins }, (_, bin) => {
    const sum = columns.reduce((total, column) => total + (column[bin] ?? 0), 0)
    return sum / Math.max(1, columns.length)
  })
}

/**
 * Levels of a sample as 0…255 on the scale of a spectrogram of the service. `same` are the levels,
 * computed here, of the sound that `shown` (0…255) was computed from: they give the offset of each band.
 */
export function onScaleOf(
  sample: readonly (readonly number[])[],
  same: readonly (readonly number[])[],
  shown: readonly (readonly number[])[],
  lowDb: number,
  highDb: number,
): number[][] {
  const bins = shown[0]?.length ?? 0
  const here = means(same, bins)
  const there = means(shown, bins).map((value) => lowDb + (value / 255) * (highDb - lowDb))
  return sample.map((column) =>
    column.map((level, bin) => {
      const db = level - (here[bin] ?? 0) + (there[bin] ?? 0)
      return Math.round(255 * Math.min(1, Math.max(0, (db - lowDb) / (highDb - lowDb))))
    }),
  )
}
