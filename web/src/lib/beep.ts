/** A short tone for a new alarm, if switched on in the settings. */

const KEY = 'ssdpt-sound'

export function isToneOn(): boolean {
  return localStorage.getItem(KEY) === 'on'
}

export function setTone(on: boolean): void {
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
