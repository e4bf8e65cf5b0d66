/** Frequency bands as shares of a spectrogram's height, 0 = bottom … 1 = top. */
export function bandShares(bands: readonly (readonly [number, number])[], hz: readonly number[]): [number, number][] {
  const place = (value: number): number => {
    const above = hz.findIndex((bin) => bin >= value)
    if (above === 0 || !hz.length) return 0
    if (above < 0) return 1
    const low = hz[above - 1] ?? 0
    const high = hz[above] ?? low
    return (above - 0.5 + (value - low) / (high - low || 1)) / hz.length
  }
  return bands.map(([low, high]) => [place(low), place(high)])
}
