/** The clock of the service, which may run faster in a simulation. */
export class ServiceClock {
  private time = Date.now() / 1000
  private setAt = performance.now()
  private speed = 1
  private latest = -Infinity

  setSpeed(speed: number): void {
    this.time = this.now()
    this.setAt = performance.now()
    this.speed = speed
  }

  /**
   * Takes the time of a reading, in a simulation only: real sound may arrive late or have times of its
   * own. A machine that lags behind the others does not set the clock back.
   */
  follow(time: number): void {
    if (this.speed !== 1 && time >= this.latest) this.set(time)
  }

  /** Takes the time of the service; an answer is a little late, so only large differences count. */
  set(time: number): void {
    this.latest = time
    if (Math.abs(time - this.now()) < 3 * Math.max(1, this.speed)) return
    this.time = time
    this.setAt = performance.now()
  }

  now(): number {
    return this.time + ((performance.now() - this.setAt) / 1000) * this.speed
  }
}
