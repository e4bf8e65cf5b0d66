/** Requests to the service. Paths are relative to the page, so that it also works below the path of a proxy. */
import { t } from '../i18n'
import { translated } from '../lib/sentences'
import type { ErrorReply } from './types'

let csrf = ''

/** Sent with every request that changes something. */
export function setCsrf(token: string): void {
  csrf = token
}

let signedOut = (): void => undefined

/** Called when a request is refused because the session has ended, or the first account was made elsewhere. */
export function onSignedOut(listener: () => void): void {
  signedOut = listener
}

/** An error with a sentence for people. */
export class ServiceError extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message)
  }
}

export function url(path: string, query: Record<string, string | number | boolean | undefined> = {}): string {
  const present = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(present.map(([key, value]) => [key, String(value)])).toString()
  return `v1/${path}${search ? `?${search}` : ''}`
}

async function errorSentence(response: Response): Promise<string> {
  try {
    const body = (await response.json()) as Partial<ErrorReply>
    if (typeof body.error === 'string') return translated(body.error, body.sentence)
  } catch {
    // Not JSON: a proxy answered.
  }
  return t('common.answered', { status: `${response.status} ${response.statusText}` })
}

async function request<T>(method: string, address: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const headers: Record<string, string> = { Accept: 'application/json' }
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  if (method !== 'GET' && csrf) headers['X-CSRF-Token'] = csrf
  let response: Response
  try {
    response = await fetch(address, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      credentials: 'same-origin',
      cache: 'no-store',
      signal: signal ?? AbortSignal.timeout(20_000),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ServiceError(t('common.unreachable'), 0)
  }
  if (response.status === 401 && !(method === 'POST' && address === url('session'))) signedOut()
  if (!response.ok) throw new ServiceError(await errorSentence(response), response.status)
  const text = await response.text()
  return (text ? JSON.parse(text) : undefined) as T
}

export const get = <T>(address: string, signal?: AbortSignal): Promise<T> =>
  request<T>('GET', address, undefined, signal)
export const post = <T = unknown>(address: string, body: unknown = {}): Promise<T> =>
  request<T>('POST', address, body)
export const put = <T = unknown>(address: string, body: unknown): Promise<T> => request<T>('PUT', address, body)
export const remove = (address: string): Promise<unknown> => request('DELETE', address)

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
