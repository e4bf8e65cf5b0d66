/** What went wrong, in a sentence; nothing when nothing did. */
export function ErrorMessage({ message }: { message: string }) {
  return message ? (
    <p className="error-message" role="alert">
      {message}
    </p>
  ) : null
}
