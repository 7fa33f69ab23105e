/**
 * How long one company's scans wait to begin while another has a backlog of 100,000 over 500 sources, with companies
 * taking turns and, beside it, first come first served: `node test/bench/fairness.ts [--quick] [--json]`.
 *
 * The jobs are real ones of tables that are gone, so that what is measured is the queue. One server works them, and
 * the smaller company's come a few at a time; a lag is from a job's commit to the start of its work, by the database.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { scanJob } from '../../plugins/checks/jobs.ts'
import { startServer, type TestServer } from '../helpers/server.ts'
import { withTeardown, type Teardown } from './rows.ts'

const { values } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'boolean' } } })
const BACKLOG = values.quick ? 10_000 : 100_000
const SOURCES = 500
/** Lots of the smaller company, jobs of each, and milliseconds between them. */
const LOTS = values.quick ? 5 : 20
const JOBS = 10
const PAUSE = 500

interface Lags {
  p50: number | null
  p95: number | null
  started: number
}

await withTeardown(async t => {
  const turns = await play(t, true)
  const fifo = await play(t, false)
  if (values.json) console.log(JSON.stringify({ backlog: BACKLOG, turns, fifo }))
  else {
    console.log(`backlog ${BACKLOG} of ${SOURCES} sources; seconds until a scan of the other company begins`)
    for (const [name, { few, many }] of Object.entries({ 'in turns': turns, 'first come': fifo }))
      console.log(
        `${name.padEnd(12)} p50 ${formatSeconds(few.p50)} p95 ${formatSeconds(few.p95)} (${few.started} of ${LOTS * JOBS} begun); ` +
          `meanwhile ${many.started} of the backlog`,
      )
  }
})

function formatSeconds(seconds: number | null): string {
  return seconds === null ? 'none' : `${seconds.toFixed(2)} s`
}

async function play(t: Teardown, inTurns: boolean): Promise<{ few: Lags; many: Lags }> {
  const app = await startServer(t)
  const sources = Array.from({ length: SOURCES }, () => randomUUID())
  const [big, small] = [randomUUID(), randomUUID()]
  await send(app, big, BACKLOG, n => sources[n % SOURCES]!, inTurns)
  for (let lot = 0; lot < LOTS; lot++) {
    await send(app, small, JOBS, () => small, inTurns)
    await wait(PAUSE)
  }
  await wait(5_000)
  return { few: await lags(app, small), many: await lags(app, big) }
}

async function send(
  { server }: TestServer,
  companyId: string,
  count: number,
  sourceOf: (n: number) => string,
  inTurns: boolean,
): Promise<void> {
  await server.db.system(async trx => {
    const turns = await server.jobs.turns(scanJob, trx)
    const items = Array.from({ length: count }, (_, n) => ({
      data: { company_id: companyId, table_id: randomUUID() },
      group: { id: sourceOf(n), tier: '2' },
      ...(inTurns && { turn: turns.next(companyId) }),
    }))
    await server.jobs.sendAll(scanJob, items, { trx })
  })
}

async function lags({ query }: TestServer, companyId: string): Promise<Lags> {
  const [found] = await query(
    `select percentile_cont(0.5) within group (order by extract(epoch from started_on - created_on)) as p50,
            percentile_cont(0.95) within group (order by extract(epoch from started_on - created_on)) as p95,
            cast(count(started_on) as int) as started
       from pgboss.job where name = $1 and data ->> 'company_id' = $2`,
    [scanJob.name, companyId],
  )
  const { p50, p95, started } = found as unknown as Lags
  return { p50: p50 === null ? null : Number(p50), p95: p95 === null ? null : Number(p95), started }
}
