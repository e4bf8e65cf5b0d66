import { createElement, type ReactNode } from 'react'
import { parse, type Block, type Inline } from '../lib/markdown'

function Words({ content }: { content: Inline[] }): ReactNode {
  return content.map((part, index) => {
    if (part.kind === 'text') return part.text
    if (part.kind === 'link')
      return (
        <a key={index} href={part.href} rel="noopener noreferrer" target="_blank">
          {part.text}
        </a>
      )
    return createElement(part.kind, { key: index }, part.text)
  })
}

function Cell({ kind, content }: { kind: 'th' | 'td'; content: Inline[] }) {
  return createElement(kind, kind === 'th' ? { scope: 'col' } : null, <Words content={content} />)
}

function Part({ block }: { block: Block }) {
  switch (block.kind) {
    case 'heading':
      // The page has its own h1 and h2.
      return createElement(`h${Math.min(6, block.level + 2)}`, null, <Words content={block.content} />)
    case 'paragraph':
      return (
        <p>
          <Words content={block.content} />
        </p>
      )
    case 'quote':
      return (
        <blockquote>
          <Words content={block.content} />
        </blockquote>
      )
    case 'list':
      return createElement(
        block.ordered ? 'ol' : 'ul',
        null,
        block.items.map((item, index) => (
          <li key={index}>
            <Words content={item} />
          </li>
        )),
      )
    case 'code':
      return <pre>{block.text}</pre>
    case 'rule':
      return <hr />
    case 'table':
      return (
        <div className="scrolled">
          <table>
            <thead>
              <tr>
                {block.head.map((cell, index) => (
                  <Cell key={index} kind="th" content={cell} />
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, index) => (
                <tr key={index}>
                  {row.map((cell, place) => (
                    <Cell key={place} kind="td" content={cell} />
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )
  }
}

export function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown">
      {parse(text).map((block, index) => (
        <Part key={index} block={block} />
      ))}
    </div>
  )
}
