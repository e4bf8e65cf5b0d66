/** How long ago something last arrived of each machine, by a clock that is never set. */

type Machine = { id: string; data_age: number | null }

export class Freshness {
  private arrivals = new Map<string, number>()
  private listeners = new Set<() => void>()
  private timer = 0

  constructor(private readonly clock: () => number = () => performance.now() / 1000) {}

  /** Takes what the service says of a machine. */
  set({ id, data_age }: Machine): void {
    if (data_age !== null) this.arrivals.set(id, this.clock() - data_age)
  }

  /** Something has just arrived. */
  arrived(id: string): void {
    this.arrivals.set(id, this.clock())
  }

  remove(id: string): void {
    this.arrivals.delete(id)
  }

  /** Whole seconds since something arrived, at least one; null where nothing has. */
  age(id: string): number | null {
    const at = this.arrivals.get(id)
    return at === undefined ? null : Math.max(1, Math.round(this.clock() - at))
  }

  /** Calls the listener every second; one timer for all. */
  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    if (!this.timer) this.timer = window.setInterval(() => this.listeners.forEach((each) => each()), 1000)
    return () => {
      this.listeners.delete(listener)
      if (this.listeners.size) return
      window.clearInterval(this.timer)
      this.timer = 0
    }
  }
}
