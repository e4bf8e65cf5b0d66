import { useId, type ReactNode } from 'react'

interface Props {
  title: string
  aside?: ReactNode
  className?: string
  children: ReactNode
}

export function Panel({ title, aside, className = '', children }: Props) {
  const id = useId()
  return (
    <section className={`panel ${className}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside && <div className="aside">{aside}</div>}
      </header>
      {children}
    </section>
  )
}
