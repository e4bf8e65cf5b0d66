/** The plant's clock: that of the service, which a simulation may let run faster. */
export class PlantClock {
  private at = Date.now() / 1000
  private read = performance.now()
  private speed = 1

  setSpeed(speed: number): void {
    this.at = this.now()
    this.read = performance.now()
    this.speed = speed
  }

  /** Tells the service's time; a reading is a little late, so only leaps count. */
  set(time: number): void {
    if (Math.abs(time - this.now()) < 3 * Math.max(1, this.speed)) return
    this.at = time
    this.read = performance.now()
  }

  now(): number {
    return this.at + ((performance.now() - this.read) / 1000) * this.speed
  }
}
