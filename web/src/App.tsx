import { useEffect, useRef, useState } from 'react'
import { useLive } from './api/useLive'
import { Announcer } from './components/Announcer'
import { ConnectionBanner } from './components/ConnectionBanner'
import { EmptyState } from './components/EmptyState'
import { HelpDialog } from './components/HelpDialog'
import { TopBar } from './components/TopBar'
import { go, link, useRoute } from './lib/route'
import { useShortcut } from './lib/shortcuts'
import { AddMachine } from './pages/AddMachine'
import { EventPage } from './pages/EventPage'
import { EventsPage } from './pages/EventsPage'
import { MachinePage } from './pages/MachinePage'
import { ModelsPage } from './pages/ModelsPage'
import { Overview } from './pages/Overview'
import { SettingsPage } from './pages/SettingsPage'
import { SignIn } from './pages/SignIn'

function Page() {
  const { page, id } = useRoute()
  switch (page) {
    case 'overview':
      return <Overview />
    case 'machine':
      return <MachinePage key={id} id={id} />
    case 'event':
      return <EventPage key={id} id={id} />
    case 'events':
      return <EventsPage />
    case 'add':
      return <AddMachine />
    case 'models':
      return <ModelsPage />
    case 'settings':
      return <SettingsPage />
    default:
      return (
        <EmptyState title="This page does not exist.">
          <a href={link('overview')}>Show the overview</a>
        </EmptyState>
      )
  }
}

export function App() {
  const { phase } = useLive()
  const { page, id } = useRoute()
  const main = useRef<HTMLElement>(null)
  const [isHelping, setHelping] = useState(false)
  const isFirst = useRef(true)
  useShortcut('?', () => setHelping((before) => !before))
  useShortcut('g o', () => go(link('overview')))
  useShortcut('g e', () => go(link('events')))
  useShortcut('g m', () => go(link('models')))
  useShortcut('g s', () => go(link('settings')))
  // A new page starts at its top, also for screen readers.
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false
      return
    }
    window.scrollTo(0, 0)
    main.current?.focus({ preventScroll: true })
  }, [page, id])
  if (phase === 'signed-out') return <SignIn />
  return (
    <>
      <button type="button" className="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <TopBar />
      <ConnectionBanner />
      <Announcer />
      <main id="main" ref={main} tabIndex={-1}>
        {phase === 'loading' ? <EmptyState title="Loading…" /> : <Page />}
      </main>
      <footer className="bottom">
        <button type="button" className="plain-button" onClick={() => setHelping(true)}>
          Help: keys and states <kbd>?</kbd>
        </button>
      </footer>
      <HelpDialog open={isHelping} onClose={() => setHelping(false)} />
    </>
  )
}
