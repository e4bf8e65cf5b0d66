import { useEffect, useRef, type ReactNode } from 'react'
import { contrast, overlay, pixels, type Contrast } from '../lib/colour'
import { hertz } from '../lib/numbers'
import { frequencyMarks } from '../lib/waterfall'

interface Props {
  columns: readonly (readonly number[] | null)[]
  hz: readonly number[]
  map?: readonly (readonly number[])[] | undefined
  /** Of the map, 0…1. */
  opacity?: number
  /** Of the colours; empty = as it suits these columns. */
  reach?: Contrast | undefined
  label: string
  marks: readonly { share: number; text: string }[]
  /** Clicked at this share of the width. */
  onSeek?: ((share: number) => void) | undefined
  children?: ReactNode
}

function draw(canvas: HTMLCanvasElement, width: number, height: number, content: Uint8ClampedArray<ArrayBuffer>): void {
  canvas.width = width
  canvas.height = height
  canvas.getContext('2d')?.putImageData(new ImageData(content, width, height), 0, 0)
}

/** Columns of bins as a picture that the style sheet stretches, with axes in text. */
export function SpectrogramCanvas({ columns, hz, map, opacity = 0, reach, label, marks, onSeek, children }: Props) {
  const sound = useRef<HTMLCanvasElement>(null)
  const odd = useRef<HTMLCanvasElement>(null)
  const bins = hz.length
  useEffect(() => {
    if (!sound.current || !columns.length || !bins) return
    draw(sound.current, columns.length, bins, pixels(columns, bins, reach ?? contrast(columns)))
  }, [columns, bins, reach])
  useEffect(() => {
    if (odd.current && map?.length && bins) draw(odd.current, map.length, bins, overlay(map, bins, opacity))
  }, [map, bins, opacity])
  return (
    <div className="spectrogram">
      <div className="frequencies" aria-hidden="true">
        {frequencyMarks(hz).map((mark) => (
          <span key={mark.hz} style={{ bottom: `${mark.share * 100}%` }}>
            {hertz(mark.hz)}
          </span>
        ))}
      </div>
      <div
        className="picture"
        role="img"
        aria-label={label}
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect()
          onSeek?.((event.clientX - box.left) / box.width)
        }}
      >
        <canvas ref={sound} />
        {map && opacity > 0 && <canvas ref={odd} className="odd" />}
        {children}
      </div>
      <div className="times" aria-hidden="true">
        {marks.map((mark) => (
          <span key={mark.text} style={{ left: `${mark.share * 100}%` }}>
            {mark.text}
          </span>
        ))}
      </div>
    </div>
  )
}
