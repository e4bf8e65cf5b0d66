import { useSyncExternalStore } from 'react'

/** The page to show, from the part of the address after '#', so that it works below any path. */
export interface Route {
  page: string
  id: string
  query: URLSearchParams
}

export function parse(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  const [page = '', id = ''] = path.split('/', 2)
  return { page: page || 'overview', id: safely(id), query: new URLSearchParams(search) }
}

function safely(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function link(page: string, id = '', query: Record<string, string> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value)
  const search = new URLSearchParams(given).toString()
  return `#/${page}${id ? `/${encodeURIComponent(id)}` : ''}${search ? `?${search}` : ''}`
}

export function go(address: string): void {
  window.location.hash = address.slice(1)
}

function subscribe(changed: () => void): () => void {
  window.addEventListener('hashchange', changed)
  return () => window.removeEventListener('hashchange', changed)
}

export function useRoute(): Route {
  return parse(useSyncExternalStore(subscribe, () => window.location.hash))
}
