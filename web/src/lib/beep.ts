/** A short tone for a new alarm, for those who asked for one. */

const KEY = 'ssdpt-sound'

export function isSounding(): boolean {
  return localStorage.getItem(KEY) === 'on'
}

export function setSounding(on: boolean): void {
  localStorage.setItem(KEY, on ? 'on' : 'off')
}

export function beep(): void {
  const context = new AudioContext()
  const tone = context.createOscillator()
  const volume = context.createGain()
  tone.frequency.value = 660
  volume.gain.setValueAtTime(0.12, context.currentTime)
  volume.gain.exponentialRampToValueAtTime(0.001, context.currentTime + 0.6)
  tone.connect(volume).connect(context.destination)
  tone.start()
  tone.stop(context.currentTime + 0.6)
  tone.onended = () => void context.close()
}
