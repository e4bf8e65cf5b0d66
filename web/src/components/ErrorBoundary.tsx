import { Component, type ReactNode } from 'react'

const RELOAD_SECONDS = 30

/** Shows an error of the page and reloads it: nobody stands at a wall screen. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { message: string }> {
  override state = { message: '' }

  static getDerivedStateFromError(error: unknown): { message: string } {
    return { message: error instanceof Error ? error.message : String(error) }
  }

  override componentDidCatch(): void {
    window.setTimeout(() => window.location.reload(), RELOAD_SECONDS * 1000)
  }

  override render(): ReactNode {
    if (!this.state.message) return this.props.children
    return (
      <main className="sign-in">
        <div className="panel" role="alert">
          <h1>This page has failed</h1>
          <p>The machines are still monitored. The page reloads in {RELOAD_SECONDS} seconds.</p>
          <p className="plain">{this.state.message}</p>
          <button type="button" className="main" onClick={() => window.location.reload()}>
            Reload now
          </button>
        </div>
      </main>
    )
  }
}
