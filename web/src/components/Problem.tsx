/** What went wrong, in a sentence; nothing when nothing did. */
export function Problem({ words }: { words: string }) {
  return words ? (
    <p className="problem" role="alert">
      {words}
    </p>
  ) : null
}
