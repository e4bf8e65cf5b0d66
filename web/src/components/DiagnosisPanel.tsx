import { useEffect, useMemo, useState } from 'react'
import type { MachineStatus, SoundAnalysis } from '../api/types'
import { url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { useLines } from '../api/useLines'
import { useHasRole, useLive } from '../api/useLive'
import { t } from '../i18n'
import { drawnLines, drawnName, highestPeaks, levelAt, linesAt, speedText, type Levels } from '../lib/diagnosis'
import { band as bandText, figures, fixed, hertz, rounded } from '../lib/numbers'
import { link } from '../lib/route'
import { EmptyState } from './EmptyState'
import { FoldedPanel } from './FoldedPanel'
import { FrequencyChart } from './FrequencyChart'
import { LineTable } from './LineTable'

const RANGES = [200, 1000, 5000, 100_000] as const
const EVERYTHING = RANGES[3]
const REFRESH_SECONDS = 4
const SECONDS = 10
/** Below this a spectrum shows the sensor and its window more than the machine. */
const LOWEST_PEAK_HZ = 3

type Chart = 'spectrum' | 'envelope'

interface Props {
  machine: MachineStatus
  /** The recording of this event; empty: the sound of now. */
  event?: string
}

const decibels = (level: number | null) => (level === null ? '–' : fixed(level, 0))

/** For those who read spectra: open at once only where the machine data names lines to look for. */
export function DiagnosisPanel({ machine, event = '' }: Props) {
  const lines = useLines(url(event ? `events/${event}/lines` : `machines/${machine.id}/lines`), false)
  return (
    <FoldedPanel title={t('diagnosis.title')} name="diagnosis" isOpenFirst={lines.length > 0} className="wide diagnosis">
      <Diagnosis machine={machine} event={event} />
    </FoldedPanel>
  )
}

/** Fine spectrum and envelope spectrum with cursors, lines, the baseline and another machine. */
function Diagnosis({ machine, event }: Required<Props>) {
  const { machines } = useLive()
  const isAdmin = useHasRole('admin')
  const [maxHz, setMaxHz] = useState<number>(1000)
  const [bandHz, setBandHz] = useState(0)
  const [siblingId, setSibling] = useState('')
  const [isHeld, setHeld] = useState(false)
  const [shows, setShows] = useState({ baseline: true, lines: true, harmonics: true })
  const [cursor, setCursor] = useState<{ chart: Chart; hz: number } | null>(null)
  const [sidebandHz, setSidebandHz] = useState(0)
  const choice = { max_hz: maxHz, ...(bandHz ? { band_hz: bandHz } : {}) }
  const own = useFetched<SoundAnalysis | null>(
    event ? url(`events/${event}/analysis`, choice) : url(`machines/${machine.id}/analysis`, { ...choice, seconds: SECONDS }),
  )
  const analysis = own.content
  const middle = analysis?.envelope ? Math.sqrt(analysis.envelope.band_hz[0] * analysis.envelope.band_hz[1]) : 0
  const other = useFetched<SoundAnalysis | null>(
    siblingId ? url(`machines/${siblingId}/analysis`, { max_hz: maxHz, seconds: SECONDS, ...(middle ? { band_hz: Math.round(middle) } : {}) }) : null,
  )
  const sibling = siblingId ? other.content : null
  const { refetch } = own
  const { refetch: refetchOther } = other
  const isLive = !event && !isHeld
  useEffect(() => {
    if (!isLive) return
    const timer = window.setInterval(() => {
      if (document.hidden) return
      refetch()
      refetchOther()
    }, REFRESH_SECONDS * 1000)
    return () => window.clearInterval(timer)
  }, [isLive, refetch, refetchOther])
  const charts = useMemo(
    () =>
      analysis && {
        spectrum: levelsOf(analysis.spectrum),
        envelope: analysis.envelope && levelsOf(analysis.envelope),
        drawn: shows.lines ? drawnLines(analysis.lines.lines, EVERYTHING) : [],
      },
    [analysis, shows.lines],
  )
  const siblings = useMemo(
    () => ({
      spectrum: sibling ? levelsOf(sibling.spectrum) : null,
      envelope: sibling?.envelope ? levelsOf(sibling.envelope) : null,
    }),
    [sibling],
  )
  if (!analysis || !charts) return <EmptyState title={own.error || t('diagnosis.none')} />
  const others = Object.values(machines).filter((each) => each.id !== machine.id)
  const sameType = others.filter((each) => machine.type && each.type === machine.type)
  const rest = others.filter((each) => !sameType.includes(each))
  const siblingName = machines[siblingId]?.name ?? siblingId
  const { lines } = analysis
  const distances = lines.lines.filter((line) => line.kind === 'shaft' || line.kind === 'ftf')

  const readout = (chart: Chart): string => {
    const shown = charts[chart]
    if (!shown || cursor?.chart !== chart) return ''
    const part = chart === 'spectrum' ? analysis.spectrum : analysis.envelope
    const other = siblings[chart]
    const facts = [t('diagnosis.readout', { hz: figures(cursor.hz, 4), db: decibels(levelAt(shown, cursor.hz)) })]
    if (shows.baseline && part?.normal.length)
      facts.push(t('diagnosis.readoutNormal', { db: decibels(levelAt({ ...shown, levels: part.normal }, cursor.hz)) }))
    if (other) facts.push(t('diagnosis.readoutSibling', { name: siblingName, db: decibels(levelAt(other, cursor.hz)) }))
    if (lines.speed_rpm) facts.push(t('diagnosis.readoutOrder', { order: figures((cursor.hz * 60) / lines.speed_rpm) }))
    // That of the shaft is said already, as a multiple of its speed.
    const parts = lines.lines.filter((line) => line.kind !== 'shaft')
    const named = linesAt(cursor.hz, drawnLines(parts, EVERYTHING), shown.spacing).slice(0, 2)
    if (named.length) facts.push(named.map(drawnName).join(t('diagnosis.or')))
    return facts.join(' · ')
  }
  const chartOf = (chart: Chart, label: string, name: string) => {
    const shown = charts[chart]
    const part = chart === 'spectrum' ? analysis.spectrum : analysis.envelope
    if (!shown || !part) return <p className="plain">{t('diagnosis.envelopeShort')}</p>
    const highest = highestPeaks(shown, LOWEST_PEAK_HZ).map((hz) => `${figures(hz, 4)} Hz`)
    const max = figures((shown.levels.length - 1) * shown.spacing, 5)
    return (
      <>
        <p className="pointed" data-readout={chart}>
          {readout(chart)}
        </p>
        <FrequencyChart
          label={label}
          now={shown}
          normal={shows.baseline ? part.normal : NONE}
          sibling={siblings[chart]}
          lines={charts.drawn}
          cursor={cursor?.chart === chart ? cursor.hz : null}
          onCursor={(hz) => setCursor({ chart, hz })}
          showsHarmonics={shows.harmonics}
          sidebandHz={sidebandHz}
          readout={readout(chart)}
          summary={t('diagnosis.summary', { what: name, max, peaks: highest.join(t('common.comma')) || '–' })}
        />
      </>
    )
  }
  const toggle = (name: keyof typeof shows) => (
    <label className="inline">
      <input type="checkbox" checked={shows[name]} onChange={(change) => setShows({ ...shows, [name]: change.target.checked })} />{' '}
      {t(`diagnosis.shows.${name}`)}
    </label>
  )
  const envelope = analysis.envelope
  return (
    <>
      <p className="plain">
        {t('diagnosis.seconds', { seconds: rounded(analysis.seconds, 1) })} · {speedText(lines, Boolean(event))}
        {lines.lines.length === 1 && ` ${t('diagnosis.noLines')}`}{' '}
        {isAdmin && lines.lines.length < 2 && <a href={link('edit', machine.id)}>{t('setup.edit.link')}</a>}
      </p>
      <div className="buttons apart">
        {!event && (
          <button type="button" aria-pressed={isHeld} onClick={() => setHeld(!isHeld)}>
            {t('diagnosis.hold')}
          </button>
        )}
        {analysis.spectrum.normal.length > 0 && toggle('baseline')}
        {lines.lines.length > 0 && toggle('lines')}
        {toggle('harmonics')}
        {distances.length > 0 && (
          <label className="inline">
            {t('diagnosis.sidebands')}{' '}
            <select value={sidebandHz} onChange={(change) => setSidebandHz(Number(change.target.value))}>
              <option value={0}>{t('diagnosis.sidebandsOff')}</option>
              {distances.map((line) => (
                <option key={drawnName({ line, multiple: 1, hz: line.hz })} value={line.hz}>
                  {t('diagnosis.sidebandsOf', { name: drawnName({ line, multiple: 1, hz: line.hz }), hz: figures(line.hz) })}
                </option>
              ))}
            </select>
          </label>
        )}
        {others.length > 0 && (
          <label className="inline">
            {t('diagnosis.compare')}{' '}
            <select value={siblingId} onChange={(change) => setSibling(change.target.value)}>
              <option value="">{t('diagnosis.noSibling')}</option>
              {[
                ['sameType', sameType] as const,
                ['otherMachines', rest] as const,
              ].map(
                ([key, listed]) =>
                  listed.length > 0 && (
                    <optgroup key={key} label={t(`diagnosis.siblings.${key}`)}>
                      {listed.map((each) => (
                        <option key={each.id} value={each.id}>
                          {each.name || each.id}
                        </option>
                      ))}
                    </optgroup>
                  ),
              )}
            </select>
          </label>
        )}
      </div>
      <p className="pointed">
        <span className="key line" aria-hidden="true" /> {t(event ? 'diagnosis.keyEvent' : 'diagnosis.keyNow')}{' '}
        {shows.baseline && analysis.spectrum.normal.length > 0 && (
          <>
            <span className="key line normal" aria-hidden="true" /> {t('diagnosis.keyNormal')}{' '}
          </>
        )}
        {siblingId && (
          <>
            <span className="key line sibling" aria-hidden="true" /> {other.error || siblingName}
          </>
        )}
      </p>
      <p className="plain">{t('diagnosis.cursorHint')}</p>
      <div className="spectra">
        <section>
          <div className="buttons apart">
            <h3>{t('diagnosis.spectrum')}</h3>
            <label className="inline">
              {t('diagnosis.upTo')}{' '}
              <select value={maxHz} onChange={(change) => setMaxHz(Number(change.target.value))}>
                {RANGES.map((range) => (
                  <option key={range} value={range}>
                    {range === EVERYTHING ? t('diagnosis.all') : hertz(range)}
                  </option>
                ))}
              </select>
            </label>
            <span className="plain">{t('diagnosis.spectrumHint', { spacing: figures(analysis.spectrum.spacing_hz) })}</span>
          </div>
          {chartOf('spectrum', t('diagnosis.cursorSpectrum'), t('diagnosis.spectrum'))}
        </section>
        <section>
          <div className="buttons apart">
            <h3>{t('diagnosis.envelope')}</h3>
            {envelope && (
              <label className="inline">
                {t('diagnosis.band')}{' '}
                <select value={bandHz} onChange={(change) => setBandHz(Number(change.target.value))}>
                  <option value={0}>
                    {envelope.automatic ? t('diagnosis.automaticBand', { band: bandText(envelope.band_hz) }) : t('diagnosis.automatic')}
                  </option>
                  {envelope.bands_hz.map((each) => (
                    <option key={each[0]} value={Math.round(Math.sqrt(each[0] * each[1]))}>
                      {bandText(each)}
                    </option>
                  ))}
                </select>
              </label>
            )}
          </div>
          {chartOf('envelope', t('diagnosis.cursorEnvelope'), t('diagnosis.envelope'))}
        </section>
      </div>
      <LineTable lines={lines} envelope={charts.envelope} />
    </>
  )
}

const NONE: readonly number[] = []

function levelsOf(part: { spacing_hz: number; levels: number[] }): Levels {
  return { spacing: part.spacing_hz, levels: part.levels }
}
