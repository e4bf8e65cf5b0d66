import { useId, useState, type ReactNode } from 'react'

interface Props {
  title: string
  /** Under which this browser remembers whether it is open. */
  name: string
  /** Until someone has opened or closed it. */
  isOpenFirst: boolean
  className?: string
  /** Rendered while it is open: what is closed asks the service nothing. */
  children: ReactNode
}

/** A panel that is opened by its title: for what few people need, on a long page. */
export function FoldedPanel({ title, name, isOpenFirst, className = '', children }: Props) {
  const heading = useId()
  const key = `ssdpt-open-${name}`
  const [chosen, setChosen] = useState(() => localStorage.getItem(key))
  const isOpen = chosen ? chosen === 'yes' : isOpenFirst
  const toggle = () => {
    const next = isOpen ? 'no' : 'yes'
    localStorage.setItem(key, next)
    setChosen(next)
  }
  return (
    <section className={`panel folded ${className}`} aria-labelledby={heading}>
      <h2 id={heading}>
        <button type="button" className="fold" aria-expanded={isOpen} onClick={toggle}>
          {title}
        </button>
      </h2>
      {isOpen && children}
    </section>
  )
}
