#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

// Types are stripped and code is compiled once, not at every start. Beside our own files, where nobody else writes.
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'tidemark'))

const stopping = new AbortController()
/** Milliseconds in which a second signal is the first one's echo: Ctrl-C reaches npm too, which passes it on. */
const ECHO = 1_000
let firstAt = 0

// A second signal does not wait for anything.
function onSignal(): void {
  if (!stopping.signal.aborted) {
    firstAt = performance.now()
    stopping.abort()
  } else if (performance.now() - firstAt > ECHO) process.exit(130)
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)

const { runCommand } = await import('./cli.ts')
const exitCode = await runCommand(process.argv.slice(2), {
  out: line => process.stdout.write(`${line}\n`),
  err: line => process.stderr.write(`${line}\n`),
  signal: stopping.signal,
})
// What is left open, such as an idle connection, must not keep the process.
process.exit(exitCode)
