/**
 * Plays the live sound of a machine.
 *
 * Pieces are scheduled as buffers, one after the other: an audio worklet would need a secure context, which a
 * service in a plant's network often is not. The context runs at the rate of the sound, so that pieces join
 * without a click.
 */

const HEADER_BYTES = 20
const VOICES = 1
/** Seconds of sound that wait to be played, against pieces that come late. */
const BUFFER_SECONDS = 0.3
const LONGEST_BUFFER = 1
const PING_MILLISECONDS = 2000
const SILENCE_MILLISECONDS = 3000
/** Rates that every browser plays. */
const LOWEST_RATE = 8000
/** Of full scale: nothing louder leaves the computer, whatever the gain. */
const LOUDEST = 0.7

export const MOST_GAIN_DB = 40

export interface Piece {
  /** Seconds since 1970 of the first sample, by the clock of the service. */
  time: number
  /** Seconds from the last sample to its sending. */
  age: number
  rate: number
  hasVoices: boolean
  samples: Float32Array<ArrayBuffer>
}

export interface LiveSoundState {
  phase: 'connecting' | 'playing' | 'silent' | 'ended'
  /** Seconds from the microphone to the loudspeaker. */
  delay: number | null
  /** Whether the limiter holds the sound down. */
  isLimited: boolean
  hasVoices: boolean
  /** Why it has ended. */
  problem: string
}

export function decodePiece(message: ArrayBuffer): Piece {
  const view = new DataView(message)
  const count = (message.byteLength - HEADER_BYTES) / 2
  const samples = new Float32Array(count)
  for (let index = 0; index < count; index++) samples[index] = view.getInt16(HEADER_BYTES + 2 * index, true) / 32767
  return {
    time: view.getFloat64(0, true),
    age: view.getFloat32(8, true),
    rate: view.getUint32(12, true),
    hasVoices: (view.getUint32(16, true) & VOICES) !== 0,
    samples,
  }
}

/** A rate that browsers play and that the sound fits into without a rest. */
export function contextRate(rate: number): number {
  let playable = rate
  while (playable < LOWEST_RATE) playable *= 2
  return playable
}

/** Straight up to half of the loudest, then bent: what is louder is squeezed, not cut. */
export function limiterCurve(points = 1025): Float32Array<ArrayBuffer> {
  const knee = LOUDEST / 2
  return Float32Array.from({ length: points }, (_, index) => {
    const value = (2 * index) / (points - 1) - 1
    const size = Math.abs(value)
    const shaped = size <= knee ? size : knee + (LOUDEST - knee) * Math.tanh((size - knee) / (LOUDEST - knee))
    return Math.sign(value) * shaped
  })
}

/** When the next piece begins, by the clock of the context; null: it is left out, since too many wait. */
export function nextStart(planned: number, now: number): number | null {
  if (planned - now > LONGEST_BUFFER) return null
  return planned > now ? planned : now + BUFFER_SECONDS
}

export class LivePlayer {
  private readonly context: AudioContext
  private readonly gain: GainNode
  private readonly limiter: DynamicsCompressorNode
  private readonly socket: WebSocket
  private readonly timer: number
  private planned = 0
  private networkSeconds = 0
  private lastPiece = 0
  private state: LiveSoundState = { phase: 'connecting', delay: null, isLimited: false, hasVoices: false, problem: '' }

  constructor(
    address: string,
    rate: number,
    gainDb: number,
    private readonly onChange: (state: LiveSoundState) => void,
  ) {
    this.context = new AudioContext({ sampleRate: contextRate(rate), latencyHint: 'interactive' })
    this.gain = this.context.createGain()
    this.limiter = this.context.createDynamicsCompressor()
    this.limiter.threshold.value = -9
    this.limiter.knee.value = 0
    this.limiter.ratio.value = 20
    this.limiter.attack.value = 0.002
    this.limiter.release.value = 0.2
    const guard = this.context.createWaveShaper()
    guard.curve = limiterCurve()
    this.gain.connect(this.limiter).connect(guard).connect(this.context.destination)
    this.gain.gain.value = 10 ** (gainDb / 20)
    const absolute = new URL(address, document.baseURI)
    absolute.protocol = absolute.protocol.replace('http', 'ws')
    this.socket = new WebSocket(absolute)
    this.socket.binaryType = 'arraybuffer'
    this.socket.onopen = () => this.ping()
    this.socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (typeof data === 'string') this.networkSeconds = (performance.now() - Number(data)) / 2000
      else this.play(decodePiece(data))
    }
    this.socket.onclose = ({ reason }) => this.end(reason)
    this.timer = window.setInterval(() => this.ping(), PING_MILLISECONDS)
    void this.context.resume()
  }

  setGain(db: number): void {
    // Not at once: a jump would click.
    this.gain.gain.setTargetAtTime(10 ** (db / 20), this.context.currentTime, 0.05)
  }

  stop(): void {
    this.socket.onclose = null
    this.socket.close()
    this.release()
  }

  private ping(): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(String(performance.now()))
    if (this.lastPiece && performance.now() - this.lastPiece > SILENCE_MILLISECONDS) this.change({ phase: 'silent', delay: null })
  }

  private play(piece: Piece): void {
    this.lastPiece = performance.now()
    const { currentTime, outputLatency = 0 } = this.context
    const start = nextStart(this.planned, currentTime)
    if (start === null) return
    const buffer = this.context.createBuffer(1, piece.samples.length, piece.rate)
    buffer.copyToChannel(piece.samples, 0)
    const source = this.context.createBufferSource()
    source.buffer = buffer
    source.connect(this.gain)
    source.start(start)
    this.planned = start + buffer.duration
    this.change({
      phase: 'playing',
      delay: piece.age + this.networkSeconds + this.planned - currentTime + outputLatency,
      isLimited: this.limiter.reduction < -3,
      hasVoices: piece.hasVoices,
    })
  }

  private end(problem: string): void {
    this.release()
    this.change({ phase: 'ended', delay: null, problem })
  }

  private release(): void {
    window.clearInterval(this.timer)
    if (this.context.state !== 'closed') void this.context.close()
  }

  private change(part: Partial<LiveSoundState>): void {
    this.state = { ...this.state, ...part }
    this.onChange(this.state)
  }
}
