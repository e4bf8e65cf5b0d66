import { useState, type KeyboardEvent, type PointerEvent } from 'react'
import type { DiagnosisLine } from '../api/types'
import { listed, t } from '../i18n'
import { binShare, harmonicsOf, shortName } from '../lib/diagnosis'
import { hertz, fixed } from '../lib/numbers'

/** Names of lines closer than this share of the height would lie over one another. */
const LEAST_APART = 0.07

/** Where lines lie in the picture; the lowest of those that are close together has the names of all. */
function placedLines(lines: readonly DiagnosisLine[], hz: readonly number[]): { share: number; name: string }[] {
  const placed = lines
    .flatMap((line) => {
      const share = binShare(line.hz, hz)
      return share === null ? [] : [{ share, name: shortName(line) }]
    })
    .sort((one, other) => one.share - other.share)
  let first: { share: number; name: string } | null = null
  for (const line of placed) {
    if (first && line.share - first.share < LEAST_APART) {
      first.name = listed([first.name, line.name])
      line.name = ''
    } else first = line
  }
  return placed
}

interface Props {
  columns: readonly (readonly number[] | null)[]
  hz: readonly number[]
  /** What the bytes 0 and 255 stand for. */
  lowDb: number
  highDb: number
  /** The time at a share of the width. */
  timeText: (share: number) => string
  lines: readonly DiagnosisLine[]
}

/** Lies over a spectrogram: a cursor with its harmonics, and the lines of the machine. */
export function SpectrogramCursor({ columns, hz, lowDb, highDb, timeText, lines }: Props) {
  const [place, setPlace] = useState<{ column: number; bin: number } | null>(null)
  const [columnCount, bins] = [columns.length, hz.length]
  const set = (column: number, bin: number) =>
    setPlace({ column: Math.min(columnCount - 1, Math.max(0, column)), bin: Math.min(bins - 1, Math.max(0, bin)) })
  const point = (event: PointerEvent<HTMLDivElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    set(
      Math.floor(((event.clientX - box.left) / box.width) * columnCount),
      Math.floor((1 - (event.clientY - box.top) / box.height) * bins),
    )
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const { column, bin } = place ?? { column: columnCount - 1, bin: Math.floor(bins / 2) }
    const step = event.shiftKey ? 10 : 1
    const to: Record<string, [number, number]> = {
      ArrowRight: [column + step, bin],
      ArrowLeft: [column - step, bin],
      ArrowUp: [column, bin + step],
      ArrowDown: [column, bin - step],
    }
    const next = to[event.key]
    if (!next) return
    event.preventDefault()
    set(...next)
  }
  const at = place && hz[place.bin]
  const value = place && columns[place.column]?.[place.bin]
  const level = value === null || value === undefined ? '–' : fixed(lowDb + (value / 255) * (highDb - lowDb), 0)
  const readout = place && at ? t('diagnosis.readoutTime', { time: timeText((place.column + 0.5) / columnCount), hz: hertz(at), db: level }) : ''
  return (
    <div
      className="spectrogram-cursor"
      role="slider"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={t('diagnosis.cursorPicture')}
      aria-valuemin={Math.round(hz[0] ?? 0)}
      aria-valuemax={Math.round(hz.at(-1) ?? 0)}
      aria-valuenow={Math.round(at ?? hz[0] ?? 0)}
      aria-valuetext={readout || t('diagnosis.noCursor')}
      title={t('diagnosis.cursorPictureHint')}
      onPointerDown={point}
      onPointerMove={(event) => event.buttons > 0 && point(event)}
      onKeyDown={onKeyDown}
    >
      {placedLines(lines, hz).map(({ share, name }, index) => (
        <span key={index} className="line" style={{ bottom: `${share * 100}%` }}>
          {name && <span>{name}</span>}
        </span>
      ))}
      {place && <span className="at-time" style={{ left: `${((place.column + 0.5) / columnCount) * 100}%` }} />}
      {at &&
        harmonicsOf(at, hz.at(-1) ?? at, 8).map((each, index) => {
          const share = binShare(each, hz)
          return share !== null && <span key={index} className={index ? 'harmonic' : 'at-frequency'} style={{ bottom: `${share * 100}%` }} />
        })}
      {readout && <output>{readout}</output>}
    </div>
  )
}
