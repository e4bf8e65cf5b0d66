import { t } from '../i18n'
import { ServiceClock } from '../lib/clock'
import { eventText } from '../lib/findings'
import { Freshness } from '../lib/freshness'
import { withLevels } from '../lib/bandTrend'
import { isMuted, STATE_NAMES } from '../lib/states'
import { appended } from '../lib/trend'
import { errorMessage, get, onSignedOut, post, ServiceError, setCsrf, url } from './client'
import type { LiveMessage, MachineEvent, MachineStatus, Reading, ServiceStatus, SessionInfo, StatusReply, UpgradeNotice, UserInfo } from './types'

/** What several pages show, kept up to date by the live stream. */
export interface LiveState {
  phase: 'loading' | 'signed-out' | 'ready'
  connected: boolean
  /** Why there is no connection. */
  connectionProblem: string
  service: ServiceStatus | null
  user: UserInfo | null
  /** What changed with this release, until the user dismisses it. */
  upgrade: UpgradeNotice | null
  machines: Record<string, MachineStatus>
  /** All open events, and those that were closed while the page is shown. */
  events: Record<string, MachineEvent>
  announcement: string
  /** How often the connection came back: what was fetched before may be out of date. */
  reconnects: number
}

const EMPTY: LiveState = {
  phase: 'loading',
  connected: false,
  connectionProblem: '',
  service: null,
  user: null,
  upgrade: null,
  machines: {},
  events: {},
  announcement: '',
  reconnects: 0,
}

/** The service sends something at least every two seconds. */
const SILENCE_SECONDS = 6
const SLOWEST_RETRY_SECONDS = 5
const READINGS_KEPT = 120

type ReadingListener = (reading: Reading) => void

/** One stream for the whole page. All state is loaded again after the connection was lost. */
export class Live {
  readonly clock = new ServiceClock()
  readonly freshness = new Freshness()
  private state = EMPTY
  private listeners = new Set<() => void>()
  private readingListeners = new Map<ReadingListener, string>()
  private lastReadings = new Map<string, Reading[]>()
  private stream: EventSource | null = null
  private retrySeconds = 1
  private retryTimer = 0
  private watchdogTimer = 0
  private notifyTimer = 0
  private lastMessage = 0
  private loads = 0
  private isSigningIn = false
  private delayed: LiveMessage[] = []

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  snapshot = (): LiveState => this.state

  get isLoading(): boolean {
    return this.loads > 0
  }

  /** The last readings of a machine, oldest first. */
  recentReadings(machine: string): readonly Reading[] {
    return this.lastReadings.get(machine) ?? []
  }

  /** Calls the listener for every reading of a machine. */
  onReading(machine: string, listener: ReadingListener): () => void {
    this.readingListeners.set(listener, machine)
    return () => this.readingListeners.delete(listener)
  }

  /** Renders at most four times per second, however many machines there are. */
  private change(part: Partial<LiveState>, immediately = false): void {
    this.state = { ...this.state, ...part }
    if (immediately) {
      this.listeners.forEach((listener) => listener())
      return
    }
    if (this.notifyTimer) return
    this.notifyTimer = window.setTimeout(() => {
      this.notifyTimer = 0
      this.listeners.forEach((listener) => listener())
    }, 250)
  }

  async start(): Promise<void> {
    window.clearTimeout(this.retryTimer)
    onSignedOut(() => this.signedOut())
    try {
      await this.load()
      this.open()
    } catch (error) {
      if (error instanceof ServiceError && error.status === 401) this.signedOut()
      else this.disconnected(errorMessage(error))
    }
  }

  /** Loads the whole state: at the start, after a lost connection, and after a change made here. */
  async load(): Promise<void> {
    this.loads++
    try {
      await this.loadAll()
    } finally {
      this.loads--
      // What arrived meanwhile may be newer than what was loaded.
      if (!this.isLoading) this.delayed.splice(0).forEach((message) => this.apply(message))
    }
  }

  private async loadAll(): Promise<void> {
    // All at once: on a slow line every answer that waits for another one is seen.
    const [status, open] = await Promise.all([
      get<StatusReply>(url('status')),
      get<MachineEvent[]>(url('events', { open: true, limit: 200 })),
      this.loadSession(),
    ])
    const { machines, user, upgrade, ...service } = status
    // A wall screen is never closed: a new version of the service has its own page.
    if (this.state.service && this.state.service.version !== service.version) window.location.reload()
    this.clock.setSpeed(service.speed || 1)
    this.clock.set(service.now)
    this.lastMessage = performance.now()
    machines.forEach((machine) => this.freshness.set(machine))
    const closed = Object.values(this.state.events).filter((event) => event.state === 'cleared')
    this.change(
      {
        phase: 'ready',
        service,
        user,
        upgrade: upgrade ?? null,
        machines: Object.fromEntries(machines.map((machine) => [machine.id, machine])),
        events: Object.fromEntries([...closed, ...open].map((event) => [event.id, event])),
      },
      true,
    )
  }

  private async loadSession(): Promise<void> {
    try {
      setCsrf((await get<SessionInfo>(url('session'))).csrf)
    } catch (error) {
      // Without users there is no session: everyone at this computer has access.
      if (!(error instanceof ServiceError && error.status >= 400)) throw error
    }
  }

  /** Creates the first account and signs in with it. What is refused in between is no reason to show the sign-in page. */
  async createAdmin(name: string, password: string): Promise<void> {
    this.isSigningIn = true
    try {
      await post(url('users'), { name, role: 'admin', password })
      await this.signIn(name, password)
    } finally {
      this.isSigningIn = false
    }
  }

  /** With a name and a password; then everything is loaded as this user. */
  async signIn(name: string, password: string): Promise<void> {
    setCsrf((await post<SessionInfo>(url('session'), { name, password })).csrf)
    await this.start()
  }

  signedOut(): void {
    if (this.isSigningIn) return
    this.close()
    this.change({ ...EMPTY, phase: 'signed-out' }, true)
  }

  private close(): void {
    this.stream?.close()
    this.stream = null
    window.clearInterval(this.watchdogTimer)
  }

  private open(): void {
    this.close()
    const stream = new EventSource(url('live'))
    this.stream = stream
    stream.onopen = () => {
      this.retrySeconds = 1
      this.lastMessage = performance.now()
      const reconnects = this.state.reconnects + (this.state.connectionProblem ? 1 : 0)
      this.change({ connected: true, connectionProblem: '', reconnects }, true)
      this.reload() // for changes between the first load and the beginning of the stream
    }
    stream.onerror = () => this.disconnected(t('common.lost'))
    for (const name of ['machine', 'reading', 'event', 'removed', 'service', 'heartbeat'] as const)
      stream.addEventListener(name, (message: MessageEvent<string>) => {
        this.lastMessage = performance.now()
        this.receive({ event: name, data: JSON.parse(message.data) } as LiveMessage)
      })
    // A cut cable or a frozen service does not end the connection.
    this.watchdogTimer = window.setInterval(() => {
      const silence = (performance.now() - this.lastMessage) / 1000
      if (silence >= SILENCE_SECONDS) this.disconnected(t('listen.serviceSilent', { seconds: Math.round(silence) }))
    }, 1000)
  }

  private disconnected(connectionProblem: string): void {
    this.close()
    this.change({ connected: false, connectionProblem }, true)
    window.clearTimeout(this.retryTimer)
    this.retryTimer = window.setTimeout(() => void this.start(), this.retrySeconds * 1000)
    this.retrySeconds = Math.min(this.retrySeconds * 2, SLOWEST_RETRY_SECONDS)
  }

  private reload(): void {
    this.load().catch((error: unknown) => this.disconnected(errorMessage(error)))
  }

  receive(message: LiveMessage): void {
    if (this.isLoading) this.delayed.push(message)
    else this.apply(message)
  }

  private apply({ event: name, data }: LiveMessage): void {
    switch (name) {
      case 'machine':
        return this.receiveMachine(data)
      case 'reading':
        return this.receiveReading(data)
      case 'event':
        return this.receiveEvent(data)
      case 'removed':
        return this.removeMachine(data.machine)
      case 'service':
        return this.change({ service: data })
      case 'heartbeat':
        return
    }
  }

  private receiveMachine(machine: MachineStatus): void {
    this.freshness.set(machine)
    // A new machine, or a late message of one that was just removed: the service knows.
    if (!this.state.machines[machine.id]) this.reload()
    else this.change({ machines: { ...this.state.machines, [machine.id]: machine } })
  }

  private removeMachine(machine: string): void {
    const { [machine]: _, ...others } = this.state.machines
    this.lastReadings.delete(machine)
    this.freshness.remove(machine)
    this.change({ machines: others })
  }

  private receiveReading(reading: Reading): void {
    this.clock.follow(reading.time)
    this.freshness.arrived(reading.machine)
    const previous = this.state.machines[reading.machine]
    if (!previous) return
    const last = [...(this.lastReadings.get(reading.machine) ?? []), reading].slice(-READINGS_KEPT)
    this.lastReadings.set(reading.machine, last)
    this.readingListeners.forEach((machine, listener) => {
      if (machine === reading.machine) listener(reading)
    })
    // States, events and all else come with the `machine` messages.
    const machine: MachineStatus = {
      ...previous,
      smoothed: reading.smoothed,
      p_value: reading.p_value,
      level_dbfs: reading.level_dbfs,
      last_sound: reading.time,
      bands: withLevels(previous.bands, reading.bands_db),
      recent_scores: appended(previous.recent_scores, reading.time, reading.smoothed),
    }
    this.change({ machines: { ...this.state.machines, [reading.machine]: machine } })
  }

  private receiveEvent(event: MachineEvent): void {
    const previous = this.state.events[event.id]
    const events = { ...this.state.events, [event.id]: event }
    const machine = this.state.machines[event.machine]
    const isNew = event.state === 'active' && (!previous || (previous.level === 'alert' && event.level === 'alarm'))
    const announcement =
      isNew && !(machine && isMuted(machine, this.clock.now()))
        ? t('common.announcement', { state: STATE_NAMES[event.level], machine: machine?.name ?? event.machine, message: eventText(event) })
        : this.state.announcement
    this.change({ events, announcement })
  }
}
