/** Ways to have jobs done in a process of one's own: the product's engine, pg-boss alone in two ways, and a loop by hand. */
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { PgBoss, type Db } from 'pg-boss'
import { pino } from 'pino'
import { build } from '../../server/build.ts'
import { readConfig } from '../../server/settings/config.ts'
import { SECRET_KEY } from '../helpers/server.ts'
import { AT_ONCE, listener, nothingJob } from './jobs-extension.ts'

/** Companies whose jobs they are. */
const GROUPS = 4
/** Jobs a statement. */
const CHUNK = 1_000

/** A worker of jobs that are identified by numbers. */
export interface Way {
  /** Resolves when they are committed, all of them in one transaction. */
  send(numbers: readonly number[]): Promise<void>
  stop(): Promise<unknown>
}

/** Each starts on its own database and says of each job when it has begun. */
export const WAYS: Record<string, (url: string, heard: (n: number) => void) => Promise<Way>> = {
  ours: startOurs,
  'pg-boss, one by one': (url, heard) => startBoss(url, heard, workOneByOne),
  'pg-boss, batches': (url, heard) => startBoss(url, heard, workBatches),
  'by hand': startLoop,
}

const groupOf = (n: number) => `company ${n % GROUPS}`

async function startOurs(url: string, heard: (n: number) => void): Promise<Way> {
  const config = readConfig({
    DATABASE_URL: url,
    SECRET_KEY,
    PORT: '0',
    EXTENSIONS: fileURLToPath(new URL('jobs-extension.ts', import.meta.url)),
  })
  listener.heard = heard
  const log = pino({ level: 'silent' })
  const server = await build({ config, log, ownerUrl: url, secretKey: SECRET_KEY, sweeps: false })
  await server.start()
  const company = randomUUID()
  return {
    async send(numbers) {
      const items = numbers.map(n => ({ data: { n }, group: groupOf(n) }))
      await server.db.company(company, trx => server.jobs.sendAll(nothingJob, items, { trx }))
    },
    stop: () => server.stop({ timeout: 1_000 }),
  }
}

/** Starts the workers of a queue. */
type StartWorkers = (boss: PgBoss, name: string, heard: (n: number) => void) => Promise<unknown>

/** Retries, dead letters and signs of life as the product has them. */
async function startBoss(url: string, heard: (n: number) => void, startWorkers: StartWorkers): Promise<Way> {
  const name = 'nothing'
  const boss = new PgBoss({
    connectionString: url,
    max: 6,
    useListenNotify: true,
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5,
  })
  await boss.start()
  await boss.createQueue('dead')
  await boss.createQueue(name, {
    notify: true,
    deadLetter: 'dead',
    retryLimit: 3,
    retryDelay: 5,
    retryBackoff: true,
    expireInSeconds: 300,
    heartbeatSeconds: 12,
  })
  await startWorkers(boss, name, heard)
  const pool = new pg.Pool({ connectionString: url, max: 10 })
  return {
    send: numbers =>
      inTransaction(pool, async client => {
        const db: Db = { executeSql: (text, values) => client.query(text, values) }
        for (const chunk of chunks(numbers)) {
          const jobs = chunk.map(n => ({ data: { n }, group: { id: groupOf(n) } }))
          await boss.insert(name, jobs, { db })
        }
      }),
    stop: () => Promise.all([boss.stop({ timeout: 1_000 }), pool.end()]),
  }
}

/** Workers of one job each, which may be of one group as far as the limit allows. */
async function workOneByOne(boss: PgBoss, name: string, heard: (n: number) => void): Promise<void> {
  const settings = {
    batchSize: 1,
    pollingIntervalSeconds: 2,
    notifyPollingIntervalSeconds: 2,
    groupConcurrency: AT_ONCE,
  } as const
  for (let count = 0; count < AT_ONCE; count += 1) {
    // Left to itself, a worker rests for a poll after each job, and eight of them do four jobs a second.
    const id: string = await boss.work<{ n: number }>(name, settings, ([job]) => {
      heard(job!.data.n)
      boss.notifyWorker(id)
      return Promise.resolve()
    })
  }
}

/** Its fastest way for eight jobs at once: full batches follow each other without a rest. No limit of groups. */
function workBatches(boss: PgBoss, name: string, heard: (n: number) => void): Promise<unknown> {
  const settings = { batchSize: AT_ONCE, burstWhenBatchFull: true, pollingIntervalSeconds: 2 } as const
  return boss.work<{ n: number }>(name, settings, jobs => {
    for (const job of jobs) heard(job.data.n)
    return Promise.resolve()
  })
}

/** A table, an index, SKIP LOCKED and NOTIFY: what one writes oneself. No retry, no expiry, no groups. */
async function startLoop(url: string, heard: (n: number) => void): Promise<Way> {
  const pool = new pg.Pool({ connectionString: url, max: AT_ONCE + 2 })
  await pool.query(`create table jobs (id bigint generated always as identity primary key, data jsonb not null,
    state text not null default 'created', start_after timestamptz not null default now(), ended_at timestamptz)`)
  await pool.query(`create index on jobs (start_after, id) where state = 'created'`)
  const hearing = await pool.connect()
  let isOver = false
  let wake = Promise.withResolvers<void>()
  const rouse = () => {
    wake.resolve()
    wake = Promise.withResolvers()
  }
  hearing.on('notification', rouse)
  await hearing.query('listen jobs')
  const poll = setInterval(rouse, 2_000)
  const claim = `update jobs set state = 'active' where id = (
      select id from jobs where state = 'created' and start_after <= now()
      order by start_after, id limit 1 for update skip locked)
    returning id, data`
  const loops = Array.from({ length: AT_ONCE }, async () => {
    while (!isOver) {
      const woken = wake.promise
      const { rows } = await pool.query<{ id: string; data: { n: number } }>(claim)
      const [job] = rows
      if (!job) await woken
      else {
        heard(job.data.n)
        await pool.query(`update jobs set state = 'completed', ended_at = now() where id = $1`, [job.id])
      }
    }
  })
  return {
    send: numbers =>
      inTransaction(pool, async client => {
        for (const chunk of chunks(numbers))
          await client.query(
            `insert into jobs (data) select jsonb_build_object('n', n) from unnest(cast($1 as int[])) n`,
            [chunk],
          )
        await client.query(`notify jobs`)
      }),
    async stop() {
      isOver = true
      clearInterval(poll)
      rouse()
      await Promise.all(loops)
      hearing.release(true)
      await pool.end()
    },
  }
}

async function inTransaction(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await work(client)
    await client.query('commit')
  } finally {
    client.release()
  }
}

function chunks(numbers: readonly number[]): number[][] {
  return Array.from({ length: Math.ceil(numbers.length / CHUNK) }, (_, at) =>
    numbers.slice(at * CHUNK, (at + 1) * CHUNK),
  )
}
