import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { discardDead, listDead, listQueues } from '../../../server/jobs/dead-letters.ts'
import { watchFetches } from '../../../server/jobs/watch.ts'
import { busy, echo, flaky, hopeless, tries } from '../../helpers/extensions/probe-jobs.ts'
import { startServer } from '../../helpers/server.ts'

const EXTENSIONS = new URL('../../helpers/extensions/probe-jobs.ts', import.meta.url).href
const { server, query } = await startServer(t, { settings: { EXTENSIONS }, isOwn: true })
const { jobs, db } = server

async function ended(id: string) {
  for (;;) {
    const found = await query(
      `select name, state::text, output, data from pgboss.job where data ->> 'id' = $1 and name <> 'jobs.dead'`,
      [id],
    )
    if (found.length > 0 && found.every(({ state }) => state === 'completed' || state === 'failed'))
      return found
    await wait(20)
  }
}

/** A job as the engine leaves it when the worker of its last try gave no more sign of life. */
async function lapsed(id: string, crashes?: number, { name, data } = { name: echo.name, data: {} }) {
  await query(
    `insert into pgboss.job (name, data, state, dead_letter, retry_limit, retry_count, started_on, output)
     values ($1, $2, 'retry', 'jobs.dead', 10, $3, now(), '{"value": {"message": "job heartbeat timeout"}}')`,
    [name, { id, ...data, ...(crashes !== undefined && { _crashes: crashes }) }, crashes ?? 0],
  )
}

t.test('a job whose process was lost is tried again, and parked after the third time', async t => {
  const [first, third] = [randomUUID(), randomUUID()]
  await lapsed(first)
  t.match(await ended(first), [{ state: 'completed', data: { _crashes: 1 } }])
  t.strictSame(tries.get(first), [2], 'its kind sees its own data only')
  await lapsed(third, 2)
  t.match(await ended(third), [{ state: 'failed', output: { name: 'Crashed', message: /3 processes/ } }])
  t.equal(tries.get(third), undefined, 'it is not tried')
  const { dead } = await listDead(server, { queue: echo.name }, { limit: 10 })
  t.match(dead, [{ queue: echo.name, reason: /It took down 3 processes/ }])
})

t.test('a job that is put off after its process was lost counts that loss once', async t => {
  const id = randomUUID()
  await lapsed(id, undefined, { name: busy.name, data: { failures: 5 } })
  t.match(await ended(id), [{ state: 'completed', data: { _crashes: 1 } }])
})

t.test('dead jobs are listed by their queue, sent again or discarded', async t => {
  const ids = Array.from({ length: 3 }, () => randomUUID())
  for (const id of ids) {
    await jobs.send(hopeless, { id })
    // The last to die is listed first; two at once may die in any order.
    await ended(id)
  }
  const { dead, total } = await listDead(server, { queue: hopeless.name }, { limit: 2 })
  t.equal(total, 3)
  t.match(dead, [
    { queue: hopeless.name, reason: `${ids[2]} cannot be done`, attempts: 1, data: { id: ids[2] } },
    { reason: `${ids[1]} cannot be done` },
  ])
  t.match(
    (await listQueues(jobs, server)).find(({ queue }) => queue === hopeless.name),
    { dead: 3, waiting: 0 },
  )
  t.equal(await jobs.redrive({ ids: [dead[0]!.id] }), 1)
  while ((tries.get(ids[2]!) ?? []).length < 2) await wait(20)
  t.strictSame(tries.get(ids[2]!), [1, 1], 'it starts anew')
  t.equal(await discardDead(server, { ids: [dead[1]!.id] }), 1)
  t.equal(await jobs.redrive({ ids: [dead[1]!.id] }), 0, 'it is gone for good')
  t.equal(await jobs.redrive({ queue: flaky.name }), 0, 'of another queue')
})

t.test('a job that fails at its last try counts as given up on', async t => {
  const id = randomUUID()
  await jobs.send(flaky, { id })
  await ended(id)
  const { text } = await server.telemetry.expose()
  const worked = text
    .split('\n')
    .filter(line => line.startsWith('tidemark_jobs_worked_total{queue="probe.flaky"'))
  t.strictSame(worked.map(line => /result="(.*)"} (\d+)/.exec(line)?.slice(1, 3)).sort(), [
    ['failed', '2'],
    ['gave_up', '1'],
  ])
})

t.test('what is stored of the end of a job is small', async t => {
  const id = `${randomUUID()}${'\u0001ü'.repeat(3_000)}`
  for (const job of [echo, hopeless]) await jobs.send(job, { id })
  while ((await ended(id)).length < 2) await wait(20)
  for (const { output } of await ended(id)) t.ok(Buffer.byteLength(JSON.stringify(output)) <= 2_048)
})

t.test('companies take turns, and one that comes later waits for few', async t => {
  const [many, few] = [randomUUID(), randomUUID()]
  const queue = { name: 'probe.turns' }
  const insert = (companyId: string, turn: number) =>
    query(
      `insert into pgboss.job (name, data, priority, group_id) values ($1, jsonb_build_object('company_id', $2::text), $3, $2)`,
      [queue.name, companyId, -turn],
    )
  await query(`select pgboss.create_queue($1, '{"policy": "standard"}')`, [queue.name])
  await db.system(async trx => {
    const turns = await jobs.turns(queue, trx)
    t.strictSame([turns.next(many), turns.next(many), turns.next(few)], [1, 2, 1])
  })
  for (let turn = 501; turn <= 600; turn++) await insert(many, turn)
  await db.system(async trx => {
    const turns = await jobs.turns(queue, trx)
    t.strictSame([turns.next(few), turns.next(few)], [502, 503], 'beside the first of those that wait')
    t.equal(turns.next(many), 601, 'behind its own')
    t.strictSame(turns.full(100), [many])
    t.strictSame(turns.full(101), [])
  })
})

t.test('workers that stop fetching while the database answers are reported, once', async t => {
  const look = { queue: 'probe.echo', lookedAt: 1, hasFreeSlots: true }
  const sentences: string[] = []
  let looks = 0
  const stop = watchFetches(
    () => [look],
    async () => ++looks !== 4,
    sentence => sentences.push(sentence),
    5,
  )
  t.teardown(stop)
  while (sentences.length === 0) await wait(5)
  t.ok(looks >= 10, 'an outage in between starts the count anew')
  t.match(sentences, [/^Jobs of probe\.echo have not been looked for/])
})
