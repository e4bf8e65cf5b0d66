/** Sounds and spectra of simulated machines. */
export const RATE = 16000
export const BINS = 64
export const STEP = 0.064

const mel = (hz) => 2595 * Math.log10(1 + hz / 700)
const unmel = (value) => 700 * (10 ** (value / 2595) - 1)
export const HZ = Array.from({ length: BINS }, (_, bin) =>
  Math.round(unmel(mel(30) + ((bin + 0.5) / BINS) * (mel(8000) - mel(30)))),
)

/** The same number for the same keys, at every call. */
export function noise(...keys) {
  let hash = 2166136261
  for (const key of keys) hash = Math.imul(hash ^ (key | 0), 16777619) ^ (hash >>> 13)
  hash = Math.imul(hash ^ (hash >>> 15), 2246822507)
  return ((hash ^ (hash >>> 13)) >>> 0) / 4294967296
}

/** Levels of one column, dB; `fault` 0…1 adds a whine with side bands around 2.6 kHz. */
export function column(seed, index, fault) {
  return HZ.map((hz, bin) => {
    const lines = [0.11, 0.2, 0.31, 0.47].map((place, line) => {
      const far = bin / BINS - place - 0.02 * noise(seed, line)
      return (22 - 3 * line) * Math.exp(-((far * 60) ** 2))
    })
    const whine = [2300, 2600, 2900].map((at) => 30 * fault * Math.exp(-(((hz - at) / 90) ** 2)))
    const turn = 3 * Math.sin(index * 0.35 + seed) * (bin > 30 ? 1 : 0.2)
    const level = -52 - bin * 0.32 + turn + 7 * noise(seed, index, bin)
    return level + Math.max(...lines) + Math.max(...whine) * (0.7 + 0.3 * Math.sin(index * 0.9))
  })
}

export const LOW_DB = -80
export const HIGH_DB = -20
export const bytes = (levels) =>
  levels.map((db) => Math.round(255 * Math.min(1, Math.max(0, (db - LOW_DB) / (HIGH_DB - LOW_DB)))))

/** A mono 16-bit WAV file. */
export function wav(seconds, seed, faultFrom) {
  const count = Math.round(seconds * RATE)
  const file = Buffer.alloc(44 + count * 2)
  file.write('RIFF', 0)
  file.writeUInt32LE(36 + count * 2, 4)
  file.write('WAVEfmt ', 8)
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(1, 20)
  file.writeUInt16LE(1, 22)
  file.writeUInt32LE(RATE, 24)
  file.writeUInt32LE(RATE * 2, 28)
  file.writeUInt16LE(2, 32)
  file.writeUInt16LE(16, 34)
  file.write('data', 36)
  file.writeUInt32LE(count * 2, 40)
  for (let index = 0; index < count; index++) {
    const time = index / RATE
    const grown = Math.min(1, Math.max(0, (time - faultFrom) / 3))
    const hum = 0.12 * Math.sin(2 * Math.PI * (97 + seed) * time) + 0.06 * Math.sin(2 * Math.PI * (291 + 3 * seed) * time)
    const hiss = 0.08 * (Math.random() - 0.5) * (1 + 0.4 * Math.sin(2 * Math.PI * 2 * time))
    const whine = 0.15 * grown * Math.sin(2 * Math.PI * 2600 * time) * (0.6 + 0.4 * Math.sin(2 * Math.PI * 30 * time))
    file.writeInt16LE(Math.round(32767 * Math.max(-1, Math.min(1, hum + hiss + whine))), 44 + index * 2)
  }
  return file
}
