import { useEffect, useRef, type ReactNode } from 'react'
import { contrast, overlay, pixels, type Contrast } from '../lib/colour'
import { hertz } from '../lib/numbers'
import { frequencyTicks } from '../lib/liveSpectrogram'

interface Props {
  columns: readonly (readonly number[] | null)[]
  hz: readonly number[]
  anomalyMap?: readonly (readonly number[])[] | undefined
  /** Of the anomaly map, 0…1. */
  opacity?: number
  /** Range of the colours; default: that of these columns. */
  contrast?: Contrast | undefined
  label: string
  ticks: readonly { share: number; text: string }[]
  /** Clicked at this share of the width. */
  onSeek?: ((share: number) => void) | undefined
  children?: ReactNode
}

function draw(canvas: HTMLCanvasElement, width: number, height: number, content: Uint8ClampedArray<ArrayBuffer>): void {
  canvas.width = width
  canvas.height = height
  canvas.getContext('2d')?.putImageData(new ImageData(content, width, height), 0, 0)
}

/** A spectrogram as an image that the style sheet stretches, with axes in text. */
export function SpectrogramCanvas({ columns, hz, anomalyMap, opacity = 0, contrast: range, label, ticks, onSeek, children }: Props) {
  const sound = useRef<HTMLCanvasElement>(null)
  const overlayCanvas = useRef<HTMLCanvasElement>(null)
  const bins = hz.length
  useEffect(() => {
    if (!sound.current || !columns.length || !bins) return
    draw(sound.current, columns.length, bins, pixels(columns, bins, range ?? contrast(columns)))
  }, [columns, bins, range])
  useEffect(() => {
    if (overlayCanvas.current && anomalyMap?.length && bins)
      draw(overlayCanvas.current, anomalyMap.length, bins, overlay(anomalyMap, bins, opacity))
  }, [anomalyMap, bins, opacity])
  return (
    <div className="spectrogram">
      <div className="frequencies" aria-hidden="true">
        {frequencyTicks(hz).map((tick) => (
          <span key={tick.hz} style={{ bottom: `${tick.share * 100}%` }}>
            {hertz(tick.hz)}
          </span>
        ))}
      </div>
      <div
        className="picture"
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect()
          onSeek?.((event.clientX - box.left) / box.width)
        }}
      >
        <canvas ref={sound} role="img" aria-label={label} />
        {anomalyMap && opacity > 0 && <canvas ref={overlayCanvas} className="anomaly-map" />}
        {children}
      </div>
      <div className="times" aria-hidden="true">
        {ticks.map((tick) => (
          <span key={tick.text} style={{ left: `${tick.share * 100}%` }}>
            {tick.text}
          </span>
        ))}
      </div>
    </div>
  )
}
