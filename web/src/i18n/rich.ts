/** Texts that hold elements: "Accept <strong>{{number}}</strong>". */
import i18next from 'i18next'
import { createElement, Fragment, type ReactNode } from 'react'
import type { Values } from '.'

/** Makes an element of the text between <name> and </name>. */
export type Elements = Record<string, (text: string) => ReactNode>

/** A text by its key, with elements. Values are never read as elements, whatever a machine is called. */
export function rich(key: string, elements: Elements, values: Values = {}): ReactNode {
  const template = i18next.t(key, { ...values, skipInterpolation: true })
  const filled = (part: string) => part.replace(/\{\{(\w+)\}\}/g, (_, name: string) => String(values[name] ?? ''))
  // Text, name of the element, text in it, text, …
  const parts = template.split(/<(\w+)>(.*?)<\/\1>/s)
  const nodes: ReactNode[] = []
  for (let at = 0; at < parts.length; at += 3) {
    nodes.push(filled(parts[at] ?? ''))
    const [name, inner] = [parts[at + 1], parts[at + 2]]
    if (name !== undefined) nodes.push(createElement(Fragment, { key: at }, elements[name]?.(filled(inner ?? '')) ?? filled(inner ?? '')))
  }
  return nodes
}
