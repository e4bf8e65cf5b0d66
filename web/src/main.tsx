import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Live } from './api/live'
import { LiveContext } from './api/useLive'
import { App } from './App'
import { ErrorBoundary } from './components/ErrorBoundary'
import { startLanguage } from './i18n/language'
import { keepFocus } from './lib/focus'
import { recordKeys } from './lib/shortcuts'
import { apply } from './lib/theme'
import './styles/tokens.css'
import './styles/base.css'
import './styles/controls.css'
import './styles/layout.css'
import './styles/figures.css'
import './styles/overview.css'
import './styles/machine.css'
import './styles/event.css'
import './styles/pages.css'
import './styles/history.css'
import './styles/print.css'
import './styles/diagnosis.css'
import './styles/setup.css'

apply()
recordKeys()
keepFocus()
const live = new Live()
void live.start()

const root = document.getElementById('root')

function render(): void {
  if (!root) return
  createRoot(root).render(
    <StrictMode>
      <LiveContext value={live}>
        <ErrorBoundary>
          <App />
        </ErrorBoundary>
      </LiveContext>
    </StrictMode>,
  )
}

// In English, if the texts of another language cannot be loaded.
void startLanguage().catch(() => undefined).then(render)
