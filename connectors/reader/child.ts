/**
 * A reader: a process that runs an engine's `backend` and answers one request at a time. An engine within a process blocks
 * its thread and takes memory outside of JavaScript's heap; only a process can be ended for certain.
 */
import type { ReaderBackend, ReaderFailure, ReaderReply, ReaderRequest } from './messages.ts'
import { watch, type Watch } from './watch.ts'

const [, , module = '', memoryMb = ''] = process.argv
const loading = import(module) as Promise<{ backend: ReaderBackend }>
// A module that cannot be loaded fails each request.
loading.catch(() => {})

let watchdog: Watch | undefined

async function answer(request: ReaderRequest): Promise<ReaderReply> {
  let backend: ReaderBackend | undefined
  watchdog ??= watch(Number(memoryMb) * 1024 * 1024)
  watchdog.begin(request.timeoutMs ?? 2 ** 30)
  try {
    backend = (await loading).backend
    return { answer: await backend.answer(request) }
  } catch (error) {
    return { failure: backend?.describe?.(error) ?? describe(error) }
  } finally {
    watchdog.end()
  }
}

function describe(thrown: unknown): ReaderFailure {
  const { name, code, message } = thrown as Error & { code?: string }
  return { code: code ?? name, message }
}

process.on('message', (request: ReaderRequest) => {
  void answer(request).then(reply => process.send?.(reply))
})
process.on('disconnect', () => process.exit())
// The terminal and service managers signal every process at once; the host still needs its readers to drain.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
