/** A server in a process of its own, ours or the reference that it is held against, for `api.ts`. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Server } from '@hapi/hapi'
import pg from 'pg'
import { pino } from 'pino'
import { build } from '../../server/build.ts'
import { readConfig } from '../../server/settings/config.ts'
import { makeLog } from '../../server/telemetry/log.ts'
import { SECRET_KEY } from '../helpers/server.ts'
import { makeReference } from './api-reference.ts'

/** What a process has spent since it was asked last. */
export interface Spent {
  cpuMs: number
  statements: number
  /** How often it waited for the database: once for statements that are sent before the first of them is answered. */
  waits: number
}

/** A server, as its parent has it. */
export interface Running {
  url: string
  pid: number
  spent(): Promise<Spent>
  stop(): Promise<void>
}

interface ApiServerOptions {
  companyId?: string
  profile?: string | undefined
  folder?: string
  role?: 'web' | 'worker'
}

/**
 * Starts one.
 * @param options.companyId the company that the reference reads
 * @param options.profile a folder that takes a CPU profile of it
 * @param options.folder another checkout that it runs from
 * @param options.role what it does; defaults to `web`
 */
export async function startApiServer(
  kind: 'ours' | 'hand',
  databaseUrl: string,
  { companyId, profile, folder, role = 'web' }: ApiServerOptions = {},
): Promise<Running> {
  const file = folder === undefined ? import.meta.filename : join(folder, 'test/bench/api-server.ts')
  const child = fork(file, {
    execArgv: [
      ...['--max-old-space-size=1024', '--max-semi-space-size=8'],
      ...(profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`, '--cpu-prof-interval=1000'] : []),
    ],
    // Its log is written as ever, and goes nowhere.
    stdio: ['ignore', 'inherit', 'ignore', 'ipc'],
    env: {
      ...process.env,
      API_SERVER: kind,
      ...(companyId && { API_COMPANY: companyId }),
      PORT: '0',
      ROLE: role,
      DATABASE_URL: databaseUrl,
      SECRET_KEY,
      LOG_LEVEL: 'info',
    },
  })
  const died = once(child, 'exit').then(([code]) => {
    throw new Error(`the ${kind} server ended with ${code}`)
  })
  died.catch(() => undefined)
  const answer = async <Given>() => ((await Promise.race([once(child, 'message'), died])) as [Given])[0]
  const url = await answer<string>()
  return {
    url,
    pid: child.pid as number,
    async spent() {
      child.send('spent')
      return answer<Spent>()
    },
    async stop() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

async function serve(): Promise<void> {
  const counts = { statements: 0, waits: 0 }
  const waiting = new WeakSet<pg.Client>()
  const { prototype } = pg.Client
  const query = prototype.query as (...input: unknown[]) => unknown
  prototype.query = function (this: pg.Client, ...input: unknown[]) {
    counts.statements += 1
    if (!waiting.has(this)) {
      counts.waits += 1
      waiting.add(this)
      this.once('drain', () => waiting.delete(this))
    }
    return query.apply(this, input)
  } as typeof prototype.query
  const server = process.env.API_SERVER === 'ours' ? await ours() : hand()
  await server.start()
  let cpu = process.cpuUsage()
  process.on('message', () => {
    const { user, system } = process.cpuUsage(cpu)
    process.send?.({ cpuMs: (user + system) / 1_000, ...counts } satisfies Spent)
    cpu = process.cpuUsage()
    Object.assign(counts, { statements: 0, waits: 0 })
  })
  process.once('disconnect', () => void server.stop({ timeout: 1_000 }).then(() => process.exit()))
  process.send?.(server.info.uri)
}

function hand(): Server {
  return makeReference(String(process.env.DATABASE_URL), String(process.env.API_COMPANY))
}

async function ours(): Promise<Server> {
  const config = readConfig()
  const ownerUrl = String(config.databaseUrl)
  return build({
    config,
    ownerUrl,
    secretKey: SECRET_KEY,
    log: process.env.API_LOG === 'silent' ? pino({ level: 'silent' }) : makeLog(config),
    sweeps: false,
  })
}

if (process.env.API_SERVER && process.argv[1] === import.meta.filename) await serve()
