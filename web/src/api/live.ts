import { PlantClock } from '../lib/clock'
import { appended } from '../lib/trend'
import { get, ServiceError, url, keepCsrf, words } from './client'
import type { Machine, MachineEvent, Plant, Reading, Session, You } from './types'

/** Everything that several pages show, kept up to date by the service. */
export interface LiveState {
  phase: 'loading' | 'signed-out' | 'ready'
  connected: boolean
  trouble: string
  plant: Omit<Plant, 'machines'> | null
  you: You | null
  machines: Record<string, Machine>
  events: Record<string, MachineEvent>
  announcement: string
  /** How often the connection came back: what was loaded before may be old. */
  returns: number
}

const EMPTY: LiveState = {
  phase: 'loading',
  connected: false,
  trouble: '',
  plant: null,
  you: null,
  machines: {},
  events: {},
  announcement: '',
  returns: 0,
}

const QUIET_SECONDS = 20
/** Troubles of the plant come with the whole state only. */
const RELOAD_SECONDS = 30
const SLOWEST_RETRY = 15

/** One stream for the whole page; after every break all state is loaded again. */
export class Live {
  readonly clock = new PlantClock()
  private state = EMPTY
  private listeners = new Set<() => void>()
  private stream: EventSource | null = null
  private retry = 1
  private retryTimer = 0
  private watchTimer = 0
  private drawTimer = 0
  private heard = 0
  private loaded = 0

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  snapshot = (): LiveState => this.state

  /** Drawn at most four times a second, however many machines speak. */
  private change(part: Partial<LiveState>, atOnce = false): void {
    this.state = { ...this.state, ...part }
    if (atOnce) {
      this.listeners.forEach((listener) => listener())
      return
    }
    if (this.drawTimer) return
    this.drawTimer = window.setTimeout(() => {
      this.drawTimer = 0
      this.listeners.forEach((listener) => listener())
    }, 250)
  }

  async start(): Promise<void> {
    window.clearTimeout(this.retryTimer)
    try {
      await this.load()
      this.open()
    } catch (error) {
      if (error instanceof ServiceError && error.status === 401) this.signedOut()
      else this.lost(words(error))
    }
  }

  /** The whole state; whoever did something calls this instead of guessing what it changed. */
  async load(): Promise<void> {
    const [plant, open] = await Promise.all([
      get<Plant>(url('plant')),
      get<MachineEvent[]>(url('events', { open: true, limit: 200 })),
    ])
    try {
      keepCsrf((await get<Session>(url('session'))).csrf ?? '')
    } catch (error) {
      // Without users there is no session: everybody at this computer is let in.
      if (!(error instanceof ServiceError && error.status >= 400)) throw error
    }
    const { machines, ...rest } = plant
    // A wall screen is never closed: a new service brings its own page.
    if (this.state.plant && this.state.plant.version !== plant.version) window.location.reload()
    this.clock.setSpeed(plant.speed || 1)
    if (plant.now !== undefined) this.clock.set(plant.now)
    this.heard = this.loaded = performance.now()
    this.change(
      {
        phase: 'ready',
        plant: rest,
        you: plant.you,
        machines: Object.fromEntries(machines.map((machine) => [machine.id, machine])),
        events: Object.fromEntries(open.map((event) => [event.id, event])),
      },
      true,
    )
  }

  signedOut(): void {
    this.close()
    this.change({ ...EMPTY, phase: 'signed-out' }, true)
  }

  private close(): void {
    this.stream?.close()
    this.stream = null
    window.clearInterval(this.watchTimer)
  }

  private open(): void {
    this.close()
    const stream = new EventSource(url('live'))
    this.stream = stream
    stream.onopen = () => {
      this.retry = 1
      this.heard = performance.now()
      const returns = this.state.returns + (this.state.trouble ? 1 : 0)
      this.change({ connected: true, trouble: '', returns }, true)
    }
    stream.onerror = () => this.lost('The connection to the service broke.')
    const on = <T>(name: string, take: (content: T) => void) =>
      stream.addEventListener(name, (message) => {
        this.heard = performance.now()
        take(JSON.parse((message as MessageEvent<string>).data) as T)
      })
    on<Machine>('machine', (machine) => this.takeMachine(machine))
    on<Reading>('reading', (reading) => this.takeReading(reading))
    on<MachineEvent>('event', (event) => this.takeEvent(event))
    on<{ machine: string }>('removed', ({ machine }) => this.forget(machine))
    // A cut cable ends no connection: when nothing comes, ask; and now and then in any case.
    this.watchTimer = window.setInterval(() => {
      const now = performance.now()
      if (now - this.heard < QUIET_SECONDS * 1000 && now - this.loaded < RELOAD_SECONDS * 1000) return
      this.load().catch((error: unknown) => this.lost(words(error)))
    }, 5_000)
  }

  private lost(trouble: string): void {
    this.close()
    this.change({ connected: false, trouble }, true)
    window.clearTimeout(this.retryTimer)
    this.retryTimer = window.setTimeout(() => void this.start(), this.retry * 1000)
    this.retry = Math.min(this.retry * 2, SLOWEST_RETRY)
  }

  takeMachine(machine: Machine): void {
    const before = this.state.machines[machine.id]
    // A new one, or the last words of one that was just removed: the service knows.
    if (!before) {
      this.load().catch((error: unknown) => this.lost(words(error)))
      return
    }
    const spark = machine.spark ?? before.spark
    this.change({ machines: { ...this.state.machines, [machine.id]: { ...machine, spark } } })
  }

  private forget(machine: string): void {
    const { [machine]: _, ...others } = this.state.machines
    this.change({ machines: others })
  }

  private takeReading(reading: Reading): void {
    this.clock.follow(reading.time)
    const before = this.state.machines[reading.machine]
    if (!before) return
    const machine: Machine = {
      ...before,
      score: reading.score,
      spark: appended(before.spark, reading.time, reading.score),
    }
    if (reading.state !== 'lost') machine.last_sound = reading.time
    if (reading.state !== before.state) {
      machine.state = reading.state
      machine.state_since = reading.time
    }
    this.change({ machines: { ...this.state.machines, [reading.machine]: machine } })
  }

  private takeEvent(event: MachineEvent): void {
    const before = this.state.events[event.id]
    const events = { ...this.state.events, [event.id]: event }
    const machine = this.state.machines[event.machine]
    const machines = machine
      ? {
          ...this.state.machines,
          [event.machine]: {
            ...machine,
            last_event: !machine.last_event || event.began >= machine.last_event.began ? event : machine.last_event,
            open_events: Object.values(events).filter((each) => each.machine === event.machine && each.ended === null).length,
          },
        }
      : this.state.machines
    const isNews = event.state === 'active' && (!before || (before.level === 'alert' && event.level === 'alarm'))
    const muted = machine?.muted_until !== null && machine?.muted_until !== undefined
    const announcement =
      isNews && !muted
        ? `${event.level === 'alarm' ? 'Alarm' : 'Alert'}: ${machine?.name ?? event.machine}. ${event.words}`
        : this.state.announcement
    this.change({ events, machines, announcement })
  }
}
