import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import Joi from 'joi'
import t from 'tap'
import { pino } from 'pino'
import { makeJobs, GiveUp } from '../../server/jobs.ts'
import { echo, flaky, hopeless, tries, type Probe } from '../helpers/extensions/probe-jobs.ts'
import { startServer } from '../helpers/server.ts'

const EXTENSIONS = new URL('../helpers/extensions/probe-jobs.ts', import.meta.url).href
const { server, query, signUp } = await startServer(t, { settings: { EXTENSIONS } })
const { jobs, db } = server

const named = (id: string) => (data: Probe) => data.id === id
const stored = (queue: string, id: string) =>
  query(
    `select state::text, retry_count, output, group_id from pgboss.job where name = $1 and data ->> 'id' = $2`,
    [queue, id],
  )

/** Waits for the end of a job that is tried several times, and gives what is stored of it. */
async function ended(queue: string, id: string) {
  for (;;) {
    const jobs = await stored(queue, id)
    if (jobs.every(({ state }) => state === 'completed' || state === 'failed')) return jobs
    await wait(20)
  }
}

t.test('a job commits or vanishes with the transaction that sent it', async t => {
  const { companyId } = await signUp()
  const [kept, lost] = [randomUUID(), randomUUID()]
  await t.rejects(
    db.company(companyId, async trx => {
      await jobs.send(echo, { id: lost }, { trx })
      throw new Error('changed my mind')
    }),
    { message: 'changed my mind' },
  )
  await db.company(companyId, async trx => {
    await jobs.send(echo, { id: kept }, { trx, group: companyId })
    t.strictSame(await stored(echo.name, kept), [], 'nobody sees it before the commit')
  })
  t.equal(await jobs.settled(echo, named(kept)), 'completed')
  t.match(await stored(echo.name, kept), [
    { state: 'completed', output: { echoed: kept }, group_id: companyId },
  ])
  t.strictSame(await stored(echo.name, lost), [])
  t.strictSame([tries.get(kept), tries.get(lost)], [[1], undefined])
})

t.test('a job that is sent for later waits', async t => {
  const id = randomUUID()
  const at = new Date('2100-01-01T00:00:00Z')
  await jobs.send(echo, { id }, { after: at })
  const [job] = await query(
    `select state::text, start_after from pgboss.job where name = $1 and data ->> 'id' = $2`,
    [echo.name, id],
  )
  t.match(job, { state: 'created', start_after: at })
})

t.test('data that does not fit the schema is refused when it is sent', async t => {
  const count = async () => (await query(`select from pgboss.job where name = $1`, [echo.name])).length
  const before = await count()
  for (const [data, message] of [
    [{}, /Data of job probe\.echo: "id" is required/],
    [{ id: 1 }, /Data of job probe\.echo: "id" must be a string/],
    [{ id: 'x', failures: '1' }, /"failures" must be a number/],
    [{ id: 'x', password: 'y' }, /"password" is not allowed/],
  ] as const) {
    await t.rejects(jobs.send(echo, data as unknown as Probe), { name: 'GiveUp', message })
  }
  t.equal(await count(), before)
})

t.test('data that does not fit when it is worked is given up on, and the work never sees it', async t => {
  const id = randomUUID()
  await query(
    `insert into pgboss.job (name, data, dead_letter, retry_limit) values ($1, jsonb_build_object('id', $2::text, 'extra', 1), 'jobs.dead', 3)`,
    [echo.name, id],
  )
  t.equal(await jobs.settled(echo, named(id)), 'failed')
  t.equal(tries.get(id), undefined)
  t.match(await stored(echo.name, id), [
    { state: 'failed', output: { name: 'GiveUp', message: /"extra" is not allowed/ } },
  ])
})

t.test('a job that throws is tried again until it works', async t => {
  const id = randomUUID()
  await jobs.send(flaky, { id, failures: 1 })
  t.match(await ended(flaky.name, id), [{ state: 'completed', retry_count: 1, output: { attempt: 2 } }])
  t.strictSame(tries.get(id), [1, 2])
  t.strictSame(await stored('jobs.dead', id), [])
})

t.test('a job that keeps throwing ends among the dead, with name and message only', async t => {
  const id = randomUUID()
  await jobs.send(flaky, { id })
  const [job] = await ended(flaky.name, id)
  t.strictSame(tries.get(id), [1, 2, 3])
  t.equal(job?.state, 'failed')
  t.strictSame(job?.output, { name: 'RequestError', message: 'try 3 failed' })
  t.equal((await stored('jobs.dead', id)).length, 1)
  const told = await query(`select from pgboss.job where to_jsonb(job)::text like '%secret-token%'`)
  t.strictSame(told, [], 'headers of the failed request are nowhere')
})

t.test('a job that gives up ends among the dead at once', async t => {
  const id = randomUUID()
  await jobs.send(hopeless, { id })
  t.equal(await jobs.settled(hopeless, named(id)), 'failed')
  t.strictSame(tries.get(id), [1])
  const [job] = await stored(hopeless.name, id)
  t.match(job, { state: 'failed', retry_count: 0 })
  t.strictSame(job?.output, { name: 'GiveUp', message: `${id} cannot be done` })
  t.equal((await stored('jobs.dead', id)).length, 1)
})

t.test('a duplicate name, or a job added to a running server, is refused', async t => {
  const log = pino({ level: 'silent' })
  const job = { name: 'probe.echo', data: Joi.object({}), work: async () => {} }
  const fresh = makeJobs({ url: 'postgres://nobody@127.0.0.1:1/nowhere', log })
  fresh.add(job)
  t.throws(() => fresh.add({ ...job }), { message: 'Cannot add job "probe.echo": the name is taken' })
  t.throws(() => jobs.add({ ...job, name: 'probe.late' }), {
    message: 'Cannot add job "probe.late": the server has started',
  })
  t.equal(new GiveUp('x').name, 'GiveUp')
})
