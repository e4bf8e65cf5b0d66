import { duration } from '../lib/time'

/** How much normal sound has been heard of what is wanted. */
export function Progress({ done, wanted }: { done: number; wanted: number }) {
  const share = wanted > 0 ? Math.min(1, done / wanted) : 0
  return (
    <div className="progress">
      <progress aria-label="Normal sound heard" value={share} max={1} />
      <p className="plain">
        {duration(done)} of {duration(wanted)} of normal sound heard
      </p>
    </div>
  )
}
