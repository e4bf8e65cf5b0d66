import { useMemo } from 'react'
import { markdownToHtml } from '../lib/markdown'

/** A model card. Loaded only when shown: the library is a fifth of the page. */
export default function Markdown({ text }: { text: string }) {
  const html = useMemo(() => markdownToHtml(text), [text])
  return <div className="markdown" dangerouslySetInnerHTML={{ __html: html }} />
}
