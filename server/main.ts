#!/usr/bin/env node
import { join } from 'node:path'

/** `engines` of package.json. An older Node must be able to run this far: the rest is imported below. */
const MIN_NODE_VERSION = [22, 18]
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < MIN_NODE_VERSION[0]! || (major === MIN_NODE_VERSION[0] && minor < MIN_NODE_VERSION[1]!)) {
  const needed = MIN_NODE_VERSION.join('.')
  process.stderr.write(
    `Tidemark needs Node ${needed} or newer, and this is ${process.versions.node}: install one from https://nodejs.org\n`,
  )
  process.exit(2)
}

const { enableCompileCache } = await import('node:module')
// Types are stripped and code is compiled once, not at every start. Stored beside our own files, where no other user writes.
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'tidemark'))

const stopping = new AbortController()
/** A second signal within this time is an echo of the first: Ctrl-C reaches npm too, which passes it on. */
const SIGNAL_ECHO_MS = 1_000
let firstAt = 0

// A second signal does not wait for anything.
function onSignal(signal: NodeJS.Signals): void {
  if (!stopping.signal.aborted) {
    firstAt = performance.now()
    stopping.abort(new DOMException(signal, 'AbortError'))
  } else if (performance.now() - firstAt > SIGNAL_ECHO_MS) process.exit(130)
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)

const { runCommand } = await import('./cli/cli.ts')
const { StandardStreams } = await import('./cli/standard-streams.ts')
const streams = new StandardStreams(process.stdout, process.stderr)
const exitCode = await runCommand(process.argv.slice(2), {
  out: line => streams.out(line),
  err: line => streams.err(line),
  signal: stopping.signal,
})
const finalCode = await streams.flush(exitCode, stopping.signal)
// An open handle, such as an idle connection, must not keep the process alive.
process.exit(finalCode)
