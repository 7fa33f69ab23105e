/** Ends a process whose event loop is blocked, since nothing else in it can. */
import { url as inspectorUrl } from 'node:inspector'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'

/** Milliseconds between two beats of the pulse. */
const BEAT_MS = 1_000
/** Seconds without a beat after which the process is ended. */
const MAX_BLOCKED_SECONDS = 60
/** Bytes of what the process says it is at. */
const NOTE_BYTES = 2_048

/** What a watching thread shares with the one it watches. */
export interface Shared {
  /** Counted up at each beat. */
  pulse: SharedArrayBuffer
  /** Its length in bytes, and the text. */
  note: SharedArrayBuffer
  beatMs: number
  patience: number
}

export interface Watchdog {
  /** What the process is at, for the last line that it logs. */
  note(text: string): void
  stop(): Promise<void>
}

/**
 * Lets a thread watch the pulse of the event loop. When it stands still for a minute, the thread writes a line of the
 * log to standard error, with what was noted last, and kills the process. Not while a debugger is attached, which
 * stops the loop for as long as it likes.
 * @param options shorter times, for tests
 */
export function startWatchdog({ beatMs = BEAT_MS, patience = MAX_BLOCKED_SECONDS } = {}): Watchdog {
  const shared: Shared = {
    pulse: new SharedArrayBuffer(4),
    note: new SharedArrayBuffer(4 + NOTE_BYTES),
    beatMs,
    patience,
  }
  const pulse = new Int32Array(shared.pulse)
  const length = new Int32Array(shared.note, 0, 1)
  const text = new Uint8Array(shared.note, 4)
  const encoder = new TextEncoder()
  const beat = setInterval(() => Atomics.add(pulse, 0, 1), beatMs)
  beat.unref()
  if (inspectorUrl() !== undefined) return { note() {}, async stop() {} }
  const thread = new Worker(new URL(`./watchdog-thread${extname(import.meta.filename)}`, import.meta.url), {
    workerData: shared,
    // What the operator preloads, such as a tracing SDK, is for the process and would not fit here; NODE_OPTIONS too.
    execArgv: [],
    env: {},
    stdout: false,
    stderr: false,
    resourceLimits: { maxOldGenerationSizeMb: 16 },
  })
  thread.unref()
  // Without it, an error of the thread would end a process that is well.
  thread.on('error', () => undefined)
  return {
    note(what) {
      // Encoded elsewhere first: into shared memory it cannot be.
      const bytes = encoder.encode(what).subarray(0, NOTE_BYTES)
      text.set(bytes)
      Atomics.store(length, 0, bytes.length)
    },
    async stop() {
      clearInterval(beat)
      await thread.terminate()
    },
  }
}
