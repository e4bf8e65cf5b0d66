import { useState } from 'react'
import type { KeptRecording, MachineStatus } from '../api/types'
import { post, remove, url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { useHasRole, useLive, useTimezone } from '../api/useLive'
import { t } from '../i18n'
import { recordingName } from '../lib/fileName'
import { fixed } from '../lib/numbers'
import { decodingRate } from '../lib/sensor'
import { duration, exactDuration, stamp } from '../lib/time'
import { useAction, type Action } from '../lib/useAction'
import { ConfirmButton } from './ConfirmButton'
import { ErrorMessage } from './ErrorMessage'
import { Player } from './Player'
import { RequiresRole } from './RequiresRole'

const MINUTES = [1, 5, 10]

function sizeText(bytes: number): string {
  if (bytes < 1e6) return t('listen.kilobytes', { size: fixed(Math.max(1, bytes / 1e3), 0) })
  return t('listen.megabytes', { size: fixed(bytes / 1e6, 1) })
}

interface RowProps {
  recording: KeptRecording
  zone: string
  action: Action
  onRemoved: () => void
}

function Recording({ recording, zone, action, onRemoved }: RowProps) {
  const isAdmin = useHasRole('admin')
  const [isOpen, setOpen] = useState(false)
  const address = `machines/${recording.machine}/recordings/${recording.id}`
  const title = stamp(recording.begin, zone)
  const name = (suffix: string) => recordingName(recording.machine, recording.begin, zone, suffix)
  return (
    <li>
      <div className="about">
        <strong>{title}</strong>
        <span className="soft">
          {[
            exactDuration(recording.end - recording.begin),
            sizeText(recording.bytes),
            t('listen.keptBy', { who: recording.who }),
          ].join(' · ')}
        </span>
        {recording.note && <span>{recording.note}</span>}
        {recording.voice_seconds > 0 && <span className="soft">{t('listen.voicesCut', { seconds: duration(Math.max(1, recording.voice_seconds)) })}</span>}
      </div>
      <div className="buttons">
        <button type="button" aria-expanded={isOpen} aria-label={t(isOpen ? 'listen.closeOf' : 'listen.openOf', { title })} onClick={() => setOpen(!isOpen)}>
          {isOpen ? t('listen.close') : t('listen.open')}
        </button>
        <a className="button" href={url(`${address}/audio`)} download={name('flac')} aria-label={t('listen.flacOf', { title })}>
          {t('listen.flac')}
        </a>
        <a className="button" href={url(`${address}/audio`, { format: 'wav' })} download={name('wav')} aria-label={t('listen.wavOf', { title })}>
          {t('listen.wav')}
        </a>
        {isAdmin && (
          <ConfirmButton
            title={t('listen.delete')}
            label={t('listen.deleteOf', { title })}
            confirm={t('listen.deleteConfirm')}
            danger
            action={action}
            work={() => remove(url(address)).then(onRemoved)}
          />
        )}
      </div>
      {isOpen && (
        <Player
          title={title}
          src={url(`${address}/audio`)}
          sampleRate={decodingRate(recording)}
          missing={t('listen.cannotPlay')}
        />
      )}
    </li>
  )
}

/** Keeps the last minutes on demand, and lists what was kept. */
export function KeptRecordings({ machine }: { machine: MachineStatus }) {
  const { service } = useLive()
  const zone = useTimezone()
  const isOperator = useHasRole('operator')
  const { content, error, refetch } = useFetched<KeptRecording[]>(url(`machines/${machine.id}/recordings`))
  const action = useAction()
  const most = service?.recent_minutes ?? 0
  const choices = [...new Set(MINUTES.map((minutes) => Math.min(minutes, most)))].filter((minutes) => minutes > 0)
  const [chosen, setChosen] = useState(choices.at(-1) ?? 0)
  const [note, setNote] = useState('')
  const keep = () =>
    action.run(() =>
      post(url(`machines/${machine.id}/recordings`), { minutes: chosen, note: note.trim() }).then(() => {
        setNote('')
        refetch()
      }),
    )
  return (
    <>
      <h3>{t('listen.keepTitle')}</h3>
      {service && !service.keeps_audio ? (
        <p className="plain">{t('listen.keepsNothing')}</p>
      ) : !choices.length ? (
        <p className="plain">{t('listen.holdsNothing')}</p>
      ) : (
        isOperator && (
          <form
            className="buttons apart"
            onSubmit={(event) => {
              event.preventDefault()
              void keep()
            }}
          >
            <span className="group" role="group" aria-label={t('listen.keepHowLong')}>
              {choices.map((minutes) => (
                <button key={minutes} type="button" aria-pressed={minutes === chosen} onClick={() => setChosen(minutes)}>
                  {t('listen.minutes', { minutes })}
                </button>
              ))}
            </span>
            <label className="inline">
              {t('listen.note')} <input value={note} maxLength={400} onChange={(event) => setNote(event.target.value)} />
            </label>
            <button type="submit" className="main" disabled={action.busy}>
              {action.busy ? t('listen.keeping') : t('listen.keep', { minutes: chosen })}
            </button>
          </form>
        )
      )}
      <RequiresRole role="operator" sentence="listen.needsRole" />
      <ErrorMessage message={error || action.error} />
      {content?.length ? (
        <ul className="kept" aria-label={t('listen.keptList')}>
          {content.map((recording) => (
            <Recording key={recording.id} recording={recording} zone={zone} action={action} onRemoved={refetch} />
          ))}
        </ul>
      ) : (
        content && <p className="plain">{t('listen.nothingKept')}</p>
      )}
    </>
  )
}
