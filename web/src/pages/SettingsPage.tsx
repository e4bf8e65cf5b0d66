import { useContext, useState } from 'react'
import { remove, url } from '../api/client'
import { LiveContext, useLive, useMay } from '../api/useLive'
import { Panel } from '../components/Panel'
import { Problem } from '../components/Problem'
import { Users } from '../components/Users'
import { beep, isSounding, setSounding } from '../lib/beep'
import { choose, useChosenTheme, type Theme } from '../lib/theme'
import { useAction } from '../lib/useAction'

const THEMES: readonly [Theme, string][] = [
  ['auto', 'As the computer'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

export function SettingsPage() {
  const { plant, you } = useLive()
  const live = useContext(LiveContext)
  const theme = useChosenTheme()
  const isAdmin = useMay('admin')
  const [sounds, setSounds] = useState(isSounding)
  const { run, error } = useAction()
  const signOut = () =>
    run(async () => {
      await remove(url('session'))
      live.signedOut()
    })
  return (
    <div className="narrow">
      <h1>Settings</h1>
      <Panel title="This screen">
        <div className="buttons" role="group" aria-label="Colours">
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
              setSounding(event.target.checked)
              setSounds(event.target.checked)
              if (event.target.checked) beep()
            }}
          />{' '}
          A short tone for every new alarm
        </label>
      </Panel>
      <Panel title="You">
        <p>
          {you?.name}, {you?.role}
        </p>
        {you && you.name !== 'local' && (
          <div className="buttons">
            <button type="button" onClick={() => void signOut()}>
              Sign out
            </button>
          </div>
        )}
        <Problem words={error} />
      </Panel>
      {isAdmin && <Users />}
      <Panel title="About this plant">
        <dl className="facts">
          <dt>Time zone</dt>
          <dd>{plant?.zone}</dd>
          <dt>Recordings</dt>
          <dd>{plant?.keeps_audio ? 'of events are kept' : 'are never kept'}</dd>
          <dt>Version</dt>
          <dd>ssdpt {plant?.version}</dd>
        </dl>
        {plant && plant.notes.length > 0 && (
          <ul>
            {plant.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        )}
        <p>
          <a href="docs">Programming interface</a>
        </p>
      </Panel>
    </div>
  )
}
