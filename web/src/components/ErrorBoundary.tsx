import { Component, type ReactNode } from 'react'
import { t } from '../i18n'

const RELOAD_SECONDS = 30

/** Shows an error of what is in it and reloads the page: nobody stands at a wall screen. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { message: string }> {
  override state = { message: '' }
  private timer = 0

  static getDerivedStateFromError(error: unknown): { message: string } {
    return { message: error instanceof Error ? error.message : String(error) }
  }

  override componentDidCatch(): void {
    this.timer = window.setTimeout(() => window.location.reload(), RELOAD_SECONDS * 1000)
  }

  override componentWillUnmount(): void {
    window.clearTimeout(this.timer) // another page was opened
  }

  override render(): ReactNode {
    if (!this.state.message) return this.props.children
    return (
      <div className="sign-in">
        <div className="panel" role="alert">
          <h1>{t('common.failed.title')}</h1>
          <p>{t('common.failed.reloads', { seconds: RELOAD_SECONDS })}</p>
          <p className="plain">{this.state.message}</p>
          <button type="button" className="main" onClick={() => window.location.reload()}>
            {t('common.failed.reload')}
          </button>
        </div>
      </div>
    )
  }
}
