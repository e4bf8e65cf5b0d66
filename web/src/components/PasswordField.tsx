interface Props {
  label: string
  value: string
  onChange: (value: string) => void
  /** Of a password that exists, so that browsers offer it. */
  current?: boolean
}

/** The service checks the rules of a new password, and says which one is broken. */
export function PasswordField({ label, value, onChange, current = false }: Props) {
  return (
    <label>
      {label}
      <input
        type="password"
        required
        autoComplete={current ? 'current-password' : 'new-password'}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  )
}
