const ENOUGH = 5

/** How long to learn. */
export function LearningMinutes({ minutes, onChange }: { minutes: number; onChange: (minutes: number) => void }) {
  return (
    <label className="inline">
      Minutes{' '}
      <input type="number" min={1} max={1440} value={minutes} onChange={(event) => onChange(Number(event.target.value))} />
    </label>
  )
}

export function FewMinutes({ minutes }: { minutes: number }) {
  if (minutes >= ENOUGH) return null
  return <p className="warned">This is too short for reliable thresholds; use 15 minutes or more.</p>
}
