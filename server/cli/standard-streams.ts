/** Standard output and error, which are written to the end before the process exits. */
import type { Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { EXIT } from './command.ts'

/** After a signal, a reader that does not read keeps the process alive for this long at most. */
const FLUSH_AFTER_SIGNAL_MS = 1_000

export class StandardStreams {
  readonly #output: Writable
  readonly #notes: Writable
  #failure: NodeJS.ErrnoException | undefined

  constructor(output: Writable, notes: Writable) {
    this.#output = output
    this.#notes = notes
    output.on('error', (error: NodeJS.ErrnoException) => (this.#failure ??= error))
    // There is no other place to report it to.
    notes.on('error', () => {})
  }

  out(line: string): void {
    this.#output.write(`${line}\n`)
  }

  err(line: string): void {
    this.#notes.write(`${line}\n`)
  }

  /**
   * Waits until the reader has taken all lines: a pipe holds 64 KiB, and `process.exit` drops the rest.
   * @param signal ends the wait for a reader that does not read
   * @returns the exit code: that of the command, or 5 when its output could not be written to the end. A reader that closed
   *   the pipe, such as `head`, has what it wanted.
   */
  async flush(exitCode: number, signal: AbortSignal): Promise<number> {
    const written = Promise.all([whenWritten(this.#output), whenWritten(this.#notes)])
    await Promise.race([written, signalAndDelay(signal)])
    if (this.#failure === undefined || this.#failure.code === 'EPIPE') return exitCode
    this.#notes.write(`The output cannot be written: ${this.#failure.message}\n`)
    return exitCode === EXIT.success ? EXIT.error : exitCode
  }
}

/** Resolves when everything before is written, or can never be. */
function whenWritten(stream: Writable): Promise<void> {
  return new Promise(resolve => stream.write('', () => resolve()))
}

async function signalAndDelay(signal: AbortSignal): Promise<void> {
  if (!signal.aborted)
    await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
  await wait(FLUSH_AFTER_SIGNAL_MS)
}
