import { useEffect, useRef, useState } from 'react'
import type { Listening } from '../api/types'
import { url } from '../api/client'
import { t } from '../i18n'
import { fixed } from '../lib/numbers'
import { LivePlayer, MOST_GAIN_DB, type LiveSoundState } from '../lib/livePlayer'
import { ErrorMessage } from './ErrorMessage'

/** What is to be said while it plays. */
function stateText({ phase, delay, isLimited, hasVoices }: LiveSoundState): string {
  if (phase === 'connecting') return t('listen.connecting')
  if (phase === 'silent') return t('listen.noSoundArrives')
  const parts = [delay === null ? '' : t('listen.delay', { seconds: fixed(delay, 1) })]
  if (hasVoices) parts.push(t('listen.voicesCutNow'))
  if (isLimited) parts.push(t('listen.limited'))
  return parts.filter(Boolean).join(' · ')
}

interface Props {
  /** Of its sound, below /v1. */
  address: string
  /** Hz. */
  rate: number
  /** Whether it can be listened to, or why not. */
  possible: Listening
}

/** Plays the sound of a machine or of a source on trial as it arrives, until the page is left. */
export function LiveListening({ address, rate, possible }: Props) {
  const player = useRef<LivePlayer | null>(null)
  const [state, setState] = useState<LiveSoundState | null>(null)
  const [gainDb, setGainDb] = useState(0)
  const stop = () => {
    player.current?.stop()
    player.current = null
    setState(null)
  }
  useEffect(
    () => () => {
      player.current?.stop()
      player.current = null
    },
    [],
  )
  if (possible !== 'possible' && !state) return <p className="plain">{t(`listen.notPossible.${possible}`)}</p>
  const start = () => {
    setState({ phase: 'connecting', delay: null, isLimited: false, hasVoices: false, problem: '' })
    player.current = new LivePlayer(url(address), rate, gainDb, setState)
  }
  const isOn = state !== null && state.phase !== 'ended'
  return (
    <>
      <div className="buttons apart">
        <button type="button" className={isOn ? '' : 'main'} onClick={isOn ? stop : start}>
          {isOn ? t('listen.stop') : t('listen.start')}
        </button>
        <label className="inline">
          {t('listen.gain')}{' '}
          <input
            type="range"
            min={0}
            max={MOST_GAIN_DB}
            step={1}
            value={gainDb}
            aria-valuetext={`${gainDb} dB`}
            onChange={(change) => {
              const db = Number(change.target.value)
              setGainDb(db)
              player.current?.setGain(db)
            }}
          />
          <span className="clock">+{gainDb} dB</span>
        </label>
        {isOn && (
          <span className="soft" data-delay={state.delay ?? ''}>
            {stateText(state)}
          </span>
        )}
      </div>
      {state?.phase === 'ended' && <ErrorMessage message={state.problem ? t('listen.ended', { reason: state.problem }) : t('listen.interrupted')} />}
    </>
  )
}
