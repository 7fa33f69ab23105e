/**
 * Loaded before tests (`node --import`), it takes the place of the package by which tap learns which test an uncaught error
 * belongs to. That package has Node report when each promise begins and ends, which is 8 % of the CPU of tests. Here such an
 * error fails the process, with the place that threw it.
 */
import { registerHooks } from 'node:module'

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'async-hook-domain'
      ? { url: import.meta.url, shortCircuit: true }
      : next(specifier, context),
})

type OnError = (error: unknown, origin: string) => void

let failRoot: OnError | undefined

/** What tap uses of `async-hook-domain`. */
export class Domain {
  constructor(onerror: OnError) {
    // The first is that of all tests of the process.
    failRoot ??= onerror
  }

  destroy(): void {}
}

process.on('uncaughtExceptionMonitor', (error, origin) => {
  const isHandled =
    process.hasUncaughtExceptionCaptureCallback() || process.listenerCount('uncaughtException') > 0
  if (isHandled || !failRoot) return
  failRoot(error, origin)
  process.setUncaughtExceptionCaptureCallback(() => process.setUncaughtExceptionCaptureCallback(null))
})
