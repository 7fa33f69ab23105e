/** A server in a process of its own on a database that another test server has made; for `startProcess`. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { build } from '../../server/build.ts'
import { readConfig } from '../../server/settings/config.ts'
import { makeLog } from '../../server/telemetry/log.ts'
import { watchProcess } from './log-watch.ts'
import { SECRET_KEY, type TestServer } from './server.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

/**
 * Starts it, to be ended with the test. It serves and works no jobs.
 * @returns where it listens: `http://127.0.0.1:40000`
 */
export async function startProcess(
  t: Teardown,
  { server }: Pick<TestServer, 'server'>,
  settings: Record<string, string> = {},
): Promise<string> {
  const child = fork(import.meta.filename, {
    env: {
      ...process.env,
      SERVER_PROCESS: 'yes',
      PORT: '0',
      ROLE: 'web',
      DATABASE_URL: server.config.databaseUrl,
      SECRET_KEY,
      LOG_LEVEL: 'debug',
      ...settings,
    },
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  })
  watchProcess(t, { stderr: child.stderr! })
  t.teardown(async () => {
    const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
    if (child.connected) child.disconnect()
    await ended
  })
  const died = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ended with ${code} before it listened`)
  })
  died.catch(() => undefined)
  const [url] = (await Promise.race([once(child, 'message'), died])) as [string]
  return url
}

/** The process's own side. */
async function serve(): Promise<void> {
  const config = readConfig()
  const server = await build({
    config,
    ownerUrl: String(config.databaseUrl),
    secretKey: SECRET_KEY,
    log: makeLog(config),
    sourceAllow: ['127.0.0.0/8'],
    sweeps: false,
  })
  process.once('disconnect', () => void server.stop({ timeout: 1_000 }).then(() => process.exit()))
  await server.start()
  process.send?.(server.info.uri)
}

if (process.env.SERVER_PROCESS === 'yes' && process.argv[1] === import.meta.filename) await serve()
