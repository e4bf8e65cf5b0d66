import type { ReactNode } from 'react'

/** Nothing to show, and what to do next. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="title">{title}</p>
      {children && <div>{children}</div>}
    </div>
  )
}
