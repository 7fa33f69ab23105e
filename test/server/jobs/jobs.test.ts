import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import Joi from 'joi'
import pg from 'pg'
import t from 'tap'
import { pino } from 'pino'
import { makeJobs, GiveUp } from '../../../server/jobs/jobs.ts'
import {
  busy,
  crowd,
  crowdSize,
  echo,
  flaky,
  hopeless,
  tries,
  type Probe,
} from '../../helpers/extensions/probe-jobs.ts'
import { startServer } from '../../helpers/server.ts'

const EXTENSIONS = new URL('../../helpers/extensions/probe-jobs.ts', import.meta.url).href
const { server, query, signUp } = await startServer(t, { settings: { EXTENSIONS }, isOwn: true })
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

t.test('a job that is put off loses no try, and is tried until it can run', async t => {
  const id = randomUUID()
  await jobs.send(busy, { id, failures: 4 })
  const [found] = await ended(busy.name, id)
  t.match(found, { state: 'completed', output: { attempt: 1 } })
  t.strictSame(tries.get(id), [1, 1, 1, 1, 1])
})

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
    t.strictSame(await stored(echo.name, kept), [], 'it is invisible before the commit')
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

async function makeCompany(): Promise<string> {
  return (await server.plugins.auth.createCompany({ name: randomUUID() })).id
}

/** All that is stored of a job, but for what no two have in common. */
async function settingsOf(id: string) {
  const [found] = await query(
    `select to_jsonb(j) - array['id', 'data', 'created_on', 'start_after', 'keep_until'] as settings,
            keep_until - start_after as kept_for, start_after - created_on as waits
       from pgboss.job j where data ->> 'id' = $1`,
    [id],
  )
  return found
}

t.test('of many jobs sent together each is stored as if it were sent alone', async t => {
  const companyId = await makeCompany()
  const at = new Date('2100-01-01T00:00:00Z')
  const options = [
    { after: at },
    { after: at, group: companyId },
    { after: 3_600, group: { id: companyId, tier: 'large' } },
    { after: 3_600.25 },
  ]
  for (const job of [echo, flaky]) {
    const [alone, together] = [options.map(() => randomUUID()), options.map(() => randomUUID())]
    await db.company(companyId, async trx => {
      for (const [place, option] of options.entries()) {
        await jobs.send(job, { id: alone[place]! }, { trx, ...option })
      }
      const items = options.map((option, place) => ({ data: { id: together[place]! }, ...option }))
      const sent = await jobs.sendAll(job, items, { trx })
      const found = await trx('pgboss.job').whereIn('id', sent).select('id', 'data')
      const dataOf = new Map(found.map(({ id, data }) => [id, data.id]))
      t.strictSame(
        sent.map(id => dataOf.get(id)),
        together,
        'ids are given in the order of the items',
      )
    })
    for (const place of options.keys()) {
      const [one, many] = [await settingsOf(alone[place]!), await settingsOf(together[place]!)]
      t.strictSame(many, one, `${job.name} ${JSON.stringify(options[place])}`)
    }
    t.match(await settingsOf(together[2]!), {
      settings: {
        state: 'created',
        dead_letter: 'jobs.dead',
        heartbeat_seconds: 12,
        retry_backoff: true,
        retry_limit: job === flaky ? 2 : 3,
        group_id: companyId,
        group_tier: 'large',
      },
    })
  }
})

/** Hears for which queues the engine wakes its workers. */
async function listenToWakes(t: { teardown(down: () => unknown): unknown }) {
  const client = new pg.Client({ connectionString: server.config.databaseUrl })
  await client.connect()
  t.teardown(() => client.end())
  const woken: string[] = []
  client.on('notification', ({ payload }) => void woken.push(payload ?? ''))
  const found = await client.query(`select 'pgboss_' || left(encode(sha224('pgboss'), 'hex'), 24) as channel`)
  await client.query(`listen ${String(found.rows[0]?.channel)}`)
  return {
    async take() {
      // What was committed before comes before the answer.
      await client.query('select 1')
      return woken.splice(0).filter(queue => queue === echo.name)
    },
  }
}

t.test('many jobs commit or vanish together, and the workers are woken as for one', async t => {
  const companyId = await makeCompany()
  const wakes = await listenToWakes(t)
  const items = Array.from({ length: 1_100 }, (_, place) => ({
    data: { id: randomUUID() },
    ...(place % 1_099 > 0 && { after: 3_600 }),
  }))
  const idOf = (place: number) => items.at(place)!.data.id
  const all = items.map(({ data }) => data.id)
  const count = async () =>
    (await query(`select from pgboss.job where data ->> 'id' = any($1)`, [all])).length
  await t.rejects(
    db.company(companyId, async trx => {
      await jobs.sendAll(echo, items, { trx })
      throw new Error('changed my mind')
    }),
    { message: 'changed my mind' },
  )
  t.equal(await count(), 0)
  await db.company(companyId, trx => jobs.sendAll(echo, items.slice(1, -1), { trx }))
  t.strictSame(await wakes.take(), [], 'no worker, since they are for later')
  await db.company(companyId, trx => jobs.send(echo, { id: randomUUID() }, { trx }))
  t.strictSame(await wakes.take(), [echo.name])
  await db.company(companyId, trx => jobs.sendAll(echo, [items[0]!, items.at(-1)!], { trx }))
  t.strictSame(await wakes.take(), [echo.name])
  t.equal(await count(), 1_100)
  for (const place of [0, -1]) t.equal(await jobs.settled(echo, named(idOf(place))), 'completed')
})

t.test('of many jobs one whose data does not fit keeps all from being sent, and none are fine', async t => {
  const companyId = await makeCompany()
  const id = randomUUID()
  await db.company(companyId, async trx => {
    const items = [{ data: { id } }, { data: { id: 1 } as unknown as Probe }]
    await t.rejects(jobs.sendAll(echo, items, { trx }), { name: 'GiveUp', message: /"id" must be a string/ })
    t.strictSame(await jobs.sendAll(echo, [], { trx }), [])
  })
  t.strictSame(await stored(echo.name, id), [])
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

t.test('of a kind of job never more are at work at once than it allows', async t => {
  const companyId = await makeCompany()
  const items = Array.from({ length: 300 }, () => ({ data: { id: randomUUID() } }))
  await db.company(companyId, trx => jobs.sendAll(crowd, items, { trx }))
  for (let left = items.length; left > 0; await wait(50)) {
    const [found] = await query(
      `select count(*)::int as left from pgboss.job where name = $1 and state <> 'completed'`,
      [crowd.name],
    )
    left = Number(found?.left)
  }
  t.ok(crowdSize.most > 1 && crowdSize.most <= 4, `${crowdSize.most} at once`)
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
  const leaked = await query(`select from pgboss.job where to_jsonb(job)::text like '%secret-token%'`)
  t.strictSame(leaked, [], 'headers of the failed request are nowhere')
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
  const fresh = makeJobs({ url: 'postgres://user@127.0.0.1:1/nowhere', log, role: 'all' })
  fresh.add(job)
  t.throws(() => fresh.add({ ...job }), { message: 'Cannot add job "probe.echo": the name is taken' })
  t.throws(() => jobs.add({ ...job, name: 'probe.late' }), {
    message: 'Cannot add job "probe.late": the server has started',
  })
  t.equal(new GiveUp('x').name, 'GiveUp')
})

t.test('a start writes only queues that are not as they are to be', async t => {
  const { query, startTwin } = await startServer(t, { settings: { EXTENSIONS }, isOwn: true })
  const queues = () => query('select name, retry_limit, updated_on from pgboss.queue order by name')
  const before = await queues()
  await startTwin()
  t.strictSame(await queues(), before)
  await query('update pgboss.queue set retry_limit = 9, updated_on = $2 where name = $1', [
    echo.name,
    new Date(0),
  ])
  await startTwin()
  const after = await queues()
  const changed = after.filter(
    (queue, index) => Number(queue.updated_on) !== Number(before[index]?.updated_on),
  )
  t.match(changed, [
    { name: echo.name, retry_limit: before.find(({ name }) => name === echo.name)?.retry_limit },
  ])
  t.not(Number(changed[0]?.updated_on), 0)
})
