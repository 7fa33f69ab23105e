#!/usr/bin/env node
import { runCommand } from './cli.ts'

const stopping = new AbortController()

// The second signal does not wait for anything.
function onSignal(): void {
  if (stopping.signal.aborted) process.exit(130)
  stopping.abort()
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)

const exitCode = await runCommand(process.argv.slice(2), {
  out: line => process.stdout.write(`${line}\n`),
  err: line => process.stderr.write(`${line}\n`),
  signal: stopping.signal,
})
// What is left open, such as an idle connection, must not keep the process.
process.exit(exitCode)
