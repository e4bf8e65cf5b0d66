import { Component, type ReactNode } from 'react'

const RELOAD_SECONDS = 30

/** A page that broke says so and comes back by itself: nobody stands at a wall screen. */
export class Boundary extends Component<{ children: ReactNode }, { words: string }> {
  override state = { words: '' }

  static getDerivedStateFromError(error: unknown): { words: string } {
    return { words: error instanceof Error ? error.message : String(error) }
  }

  override componentDidCatch(): void {
    window.setTimeout(() => window.location.reload(), RELOAD_SECONDS * 1000)
  }

  override render(): ReactNode {
    if (!this.state.words) return this.props.children
    return (
      <main className="sign-in">
        <div className="panel" role="alert">
          <h1>This page broke</h1>
          <p>The machines are still watched. The page loads again in {RELOAD_SECONDS} seconds.</p>
          <p className="plain">{this.state.words}</p>
          <button type="button" className="main" onClick={() => window.location.reload()}>
            Load again now
          </button>
        </div>
      </main>
    )
  }
}
