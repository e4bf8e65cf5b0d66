import DOMPurify from 'dompurify'
import { Marked } from 'marked'

const marked = new Marked({
  renderer: {
    // The page has its own h1 and h2.
    heading({ tokens, depth }) {
      const level = Math.min(6, depth + 2)
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`
    },
  },
})

const purify = DOMPurify(window)
purify.addHook('afterSanitizeAttributes', (element) => {
  if (element.tagName !== 'A') return
  element.setAttribute('target', '_blank')
  element.setAttribute('rel', 'noopener noreferrer')
})

/** HTML that is safe to show: no scripts, no styles, no forms, nothing loaded from other hosts. */
export function markdownToHtml(text: string): string {
  return purify.sanitize(marked.parse(text, { async: false }), {
    USE_PROFILES: { html: true },
    FORBID_TAGS: ['style', 'form', 'input', 'button', 'textarea', 'select', 'img', 'picture', 'audio', 'video', 'source'],
    FORBID_ATTR: ['style', 'class', 'id', 'name', 'background'],
    ALLOW_DATA_ATTR: false,
  })
}
