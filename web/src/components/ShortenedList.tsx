import { useId, useState, type ReactNode } from 'react'
import { t } from '../i18n'

interface Props<Item> {
  /** The most important first. */
  items: readonly Item[]
  /** So many are shown at once; the others are one click away. */
  most: number
  /** The list of these items, with this id. */
  children: (shown: readonly Item[], id: string) => ReactNode
}

/** A list of which a person first sees what matters most. */
export function ShortenedList<Item>({ items, most, children }: Props<Item>) {
  const [isWhole, setWhole] = useState(false)
  const id = useId()
  return (
    <>
      {children(isWhole ? items : items.slice(0, most), id)}
      {items.length > most && (
        <button type="button" className="small" aria-expanded={isWhole} aria-controls={id} onClick={() => setWhole(!isWhole)}>
          {isWhole ? t('common.showFewer') : t('common.showAll', { number: items.length })}
        </button>
      )}
    </>
  )
}
