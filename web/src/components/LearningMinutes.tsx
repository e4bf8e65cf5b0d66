const FEW = 5

/** For how long the normal sound is learnt. */
export function LearningMinutes({ minutes, onChange }: { minutes: number; onChange: (minutes: number) => void }) {
  return (
    <label className="inline">
      Minutes{' '}
      <input type="number" min={1} max={1440} value={minutes} onChange={(event) => onChange(Number(event.target.value))} />
    </label>
  )
}

export function FewMinutes({ minutes }: { minutes: number }) {
  if (minutes >= FEW) return null
  return <p className="warned">Limits from so little sound are hardly worth anything; 15 minutes or more are better.</p>
}
