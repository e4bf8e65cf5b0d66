/** The plant's clock: that of the service, which a simulation may let run faster. */
export class PlantClock {
  private at = Date.now() / 1000
  private read = performance.now()
  private speed = 1
  private told = -Infinity

  setSpeed(speed: number): void {
    this.at = this.now()
    this.read = performance.now()
    this.speed = speed
  }

  /**
   * Tells the time of a reading. It counts only where a simulation sets the pace: elsewhere sound may
   * come late, or be sent with times of its own, and the service says what time it is. There too a
   * machine that lags behind the others does not set the clock back.
   */
  follow(time: number): void {
    if (this.speed !== 1 && time >= this.told) this.set(time)
  }

  /** Tells the service's time; an answer is a little late, so only leaps count. */
  set(time: number): void {
    this.told = time
    if (Math.abs(time - this.now()) < 3 * Math.max(1, this.speed)) return
    this.at = time
    this.read = performance.now()
  }

  now(): number {
    return this.at + ((performance.now() - this.read) / 1000) * this.speed
  }
}
