import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { useLive } from './api/useLive'
import { Announcer } from './components/Announcer'
import { ConnectionBanner } from './components/ConnectionBanner'
import { EmptyState } from './components/EmptyState'
import { ErrorBoundary } from './components/ErrorBoundary'
import { HelpDialog } from './components/HelpDialog'
import { TopBar } from './components/TopBar'
import { t } from './i18n'
import { useLanguage } from './i18n/language'
import { rich } from './i18n/rich'
import { go, link, useRoute } from './lib/route'
import { useShortcut } from './lib/shortcuts'
import { Overview } from './pages/Overview'

// All but the overview is loaded when it is shown: the first card waits for nothing that it does not need.
const AddMachine = lazy(async () => ({ default: (await import('./pages/AddMachine')).AddMachine }))
const EditMachine = lazy(async () => ({ default: (await import('./pages/EditMachine')).EditMachine }))
const EventPage = lazy(async () => ({ default: (await import('./pages/EventPage')).EventPage }))
const EventsPage = lazy(async () => ({ default: (await import('./pages/EventsPage')).EventsPage }))
const MachinePage = lazy(async () => ({ default: (await import('./pages/MachinePage')).MachinePage }))
const ModelsPage = lazy(async () => ({ default: (await import('./pages/ModelsPage')).ModelsPage }))
const ReportPage = lazy(async () => ({ default: (await import('./pages/ReportPage')).ReportPage }))
const SettingsPage = lazy(async () => ({ default: (await import('./pages/SettingsPage')).SettingsPage }))
const SignIn = lazy(async () => ({ default: (await import('./pages/SignIn')).SignIn }))

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
    case 'report':
      return <ReportPage />
    case 'add':
      return <AddMachine />
    case 'edit':
      return <EditMachine key={id} id={id} />
    case 'models':
      return <ModelsPage />
    case 'settings':
      return <SettingsPage />
    default:
      return (
        <EmptyState isPage title={t('common.noSuchPage')}>
          <a href={link('overview')}>{t('common.showOverview')}</a>
        </EmptyState>
      )
  }
}

export function App() {
  const { phase } = useLive()
  useLanguage() // all texts are read again when it changes
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
  const loading = <EmptyState title={t('common.loading')} />
  if (phase === 'signed-out')
    return (
      <Suspense fallback={loading}>
        <SignIn />
      </Suspense>
    )
  return (
    <>
      <button type="button" className="skip" onClick={() => main.current?.focus()}>
        {t('common.skipToContent')}
      </button>
      <TopBar />
      <ConnectionBanner />
      <Announcer />
      <main id="main" ref={main} tabIndex={-1}>
        {phase === 'loading' ? (
          loading
        ) : (
          // A page that fails leaves the way to the others open.
          <ErrorBoundary key={`${page}/${id}`}>
            <Suspense fallback={loading}>
              <Page />
            </Suspense>
          </ErrorBoundary>
        )}
      </main>
      <footer className="bottom">
        <button type="button" className="plain-button" onClick={() => setHelping(true)}>
          {rich('common.openHelp', { kbd: (key) => <kbd>{key}</kbd> })}
        </button>
      </footer>
      <HelpDialog open={isHelping} onClose={() => setHelping(false)} />
    </>
  )
}
