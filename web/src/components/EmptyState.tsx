import type { ReactNode } from 'react'

/** In place of content that is not there, with what to do next. */
export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="title">{title}</p>
      {children && <div>{children}</div>}
    </div>
  )
}
