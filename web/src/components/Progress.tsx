import { duration } from '../lib/time'

/** How much normal sound has been collected. */
export function Progress({ seconds, target }: { seconds: number; target: number }) {
  const share = target > 0 ? Math.min(1, seconds / target) : 0
  return (
    <div className="progress">
      <progress aria-label="Normal sound collected" value={share} max={1} />
      <p className="plain">
        {duration(seconds)} of {duration(target)} of normal sound collected
      </p>
    </div>
  )
}
