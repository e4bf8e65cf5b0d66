import type { ReactNode } from 'react'

interface Props {
  title: string
  /** Whether it takes the place of a whole page, which needs a heading. */
  isPage?: boolean
  children?: ReactNode
}

/** In place of content that is not there, with what to do next. */
export function EmptyState({ title, isPage = false, children }: Props) {
  return (
    <div className="empty">
      {isPage ? <h1>{title}</h1> : <p className="title">{title}</p>}
      {children && <div>{children}</div>}
    </div>
  )
}
