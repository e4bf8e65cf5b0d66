import { useContext, useState } from 'react'
import { remove, url } from '../api/client'
import { LiveContext, useLive, useHasRole } from '../api/useLive'
import { Panel } from '../components/Panel'
import { ErrorMessage } from '../components/ErrorMessage'
import { Users } from '../components/Users'
import { beep, isToneOn, setTone } from '../lib/beep'
import { choose, useChosenTheme, type Theme } from '../lib/theme'
import { useAction } from '../lib/useAction'

const THEMES: readonly [Theme, string][] = [
  ['auto', 'System theme'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

export function SettingsPage() {
  const { service, user } = useLive()
  const live = useContext(LiveContext)
  const theme = useChosenTheme()
  const isAdmin = useHasRole('admin')
  const [sounds, setSounds] = useState(isToneOn)
  const { run, error } = useAction()
  const signOut = () =>
    run(async () => {
      await remove(url('session'))
      live.signedOut()
    })
  return (
    <div className="narrow">
      <h1>Settings</h1>
      <Panel title="Display">
        <div className="buttons" role="group" aria-label="Theme">
          {THEMES.map(([name, title]) => (
            <button key={name} type="button" aria-pressed={theme === name} onClick={() => choose(name)}>
              {title}
            </button>
          ))}
        </div>
        <label className="inline">
          <input
            type="checkbox"
            checked={sounds}
            onChange={(event) => {
              setTone(event.target.checked)
              setSounds(event.target.checked)
              if (event.target.checked) beep()
            }}
          />{' '}
          Play a short tone for every new alarm
        </label>
      </Panel>
      <Panel title="Account">
        <p>
          {user?.name}, {user?.role}
        </p>
        {user && user.name !== 'local' && (
          <div className="buttons">
            <button type="button" onClick={() => void signOut()}>
              Sign out
            </button>
          </div>
        )}
        <ErrorMessage message={error} />
      </Panel>
      {isAdmin && <Users />}
      <Panel title="About this service">
        <dl className="facts">
          <dt>Time zone</dt>
          <dd>{service?.timezone}</dd>
          <dt>Event recordings</dt>
          <dd>{service?.keeps_audio ? 'kept' : 'not kept'}</dd>
          <dt>Version</dt>
          <dd>ssdpt {service?.version}</dd>
        </dl>
        {service && service.notes.length > 0 && (
          <ul aria-label="Notes">
            {service.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        )}
        <p>
          <a href="docs">API documentation</a>
        </p>
      </Panel>
    </div>
  )
}
