/** The thread of `watchdog.ts`: it sleeps, looks at the pulse, and sleeps again. */
import { writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import type { Shared } from './watchdog.ts'

const { pulse, note, beatMs, patience } = workerData as Shared
const beats = new Int32Array(pulse)
const never = new Int32Array(new SharedArrayBuffer(4))

let last = Atomics.load(beats, 0)
// Counted in looks, not by the clock: a machine that slept, or a process that was stopped, has missed none.
for (let missed = 0; missed < patience;) {
  Atomics.wait(never, 0, 0, beatMs)
  const now = Atomics.load(beats, 0)
  missed = now === last ? missed + 1 : 0
  last = now
}

const bytes = new Uint8Array(note, 4).slice(0, Atomics.load(new Int32Array(note, 0, 1), 0))
const line = {
  level: 60,
  time: new Date().toISOString(),
  at_work: new TextDecoder().decode(bytes),
  msg: `the event loop has been blocked for ${(patience * beatMs) / 1000} s: the process ends itself`,
}
writeSync(2, `${JSON.stringify(line)}\n`)
process.kill(process.pid, 'SIGKILL')
