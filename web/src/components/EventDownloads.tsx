import type { MachineEvent } from '../api/types'
import { url } from '../api/client'
import { t } from '../i18n'
import { recordingName } from '../lib/fileName'
import { duration } from '../lib/time'

interface Props {
  event: MachineEvent
  zone: string
  /** Whether there is a spectrogram. */
  hasPicture: boolean
}

/** The recording and the picture of an event as files. */
export function EventDownloads({ event, zone, hasPicture }: Props) {
  const name = (suffix: string) => recordingName(event.machine, event.audio_begin ?? event.began, zone, suffix)
  const audio = `events/${event.id}/audio`
  if (!event.has_audio && !hasPicture) return null
  return (
    <>
      {event.voice_seconds > 0 && <p className="plain">{t('listen.voicesCut', { seconds: duration(Math.max(1, event.voice_seconds)) })}</p>}
      <div className="buttons" role="group" aria-label={t('listen.downloadEvent')}>
        <span className="soft">{t('listen.download')}</span>
        {event.has_audio && (
          <>
            <a className="button" href={url(audio)} download={name('flac')}>
              {t('listen.soundFlac')}
            </a>
            <a className="button" href={url(audio, { format: 'wav' })} download={name('wav')}>
              {t('listen.soundWav')}
            </a>
          </>
        )}
        {hasPicture && (
          <a className="button" href={url(`events/${event.id}/picture.png`, { width: 1280, height: 480 })} download={name('png')}>
            {t('listen.picturePng')}
          </a>
        )}
      </div>
    </>
  )
}
