import { useId, type ReactNode } from 'react'

interface Props {
  title: string
  aside?: ReactNode
  className?: string
  /** For links to the panel. */
  id?: string
  children: ReactNode
}

export function Panel({ title, aside, className = '', id, children }: Props) {
  const heading = useId()
  return (
    <section id={id} tabIndex={id ? -1 : undefined} className={`panel ${className}`} aria-labelledby={heading}>
      <header>
        <h2 id={heading}>{title}</h2>
        {aside && <div className="aside">{aside}</div>}
      </header>
      {children}
    </section>
  )
}
