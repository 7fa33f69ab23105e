import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { shareSlots } from '../../../server/jobs/shares.ts'
import { countTurns } from '../../../server/jobs/fair-queueing.ts'
import { hold, losses, running, survivor } from '../../helpers/extensions/shared-jobs.ts'
import { startServer } from '../../helpers/server.ts'

const EXTENSIONS = new URL('../../helpers/extensions/shared-jobs.ts', import.meta.url).href
const { server, query, startTwin } = await startServer(t, { settings: { EXTENSIONS }, isOwn: true })

const heldBy = (company: string) =>
  [...running.values()].filter(({ company_id: id }) => id === company).length

/** Sends jobs of a company, each in a group of its own unless one is given. */
async function send(company: string, count: number, group?: string): Promise<void> {
  const items = Array.from({ length: count }, () => ({
    data: { company_id: company, id: randomUUID() },
    group: group ?? randomUUID(),
  }))
  await server.db.system(trx => server.jobs.sendAll(hold, items, { trx }))
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await wait(20)
}

/** Resolves when the workers have looked for jobs since now, so that what they leave waiting they mean to. */
async function looked(): Promise<void> {
  // A job of a company of its own is last in the queue, and a slot is free for it.
  const data = { company_id: randomUUID(), id: randomUUID() }
  await server.jobs.send(hold, data, { group: data.id })
  await until(() => running.has(data.id))
  running.get(data.id)!.release()
  await until(() => !running.has(data.id))
}

async function releaseAll(): Promise<void> {
  await until(async () => {
    for (const { release } of running.values()) release()
    const left = await query(`select from pgboss.job where name = $1 and state < 'completed'`, [hold.name])
    return left.length === 0
  })
}

t.test('one company holds half of the slots, the next half of the others, and a slot stays free', async t => {
  const [first, second, third] = ['first', 'second', 'third']
  await send(first, 20)
  await until(() => heldBy(first) === 4)
  await looked()
  t.equal(heldBy(first), 4)
  await send(second, 20)
  await until(() => heldBy(second) === 2)
  await send(third, 20)
  await until(() => heldBy(third) === 1)
  await looked()
  t.strictSame([first, second, third].map(heldBy), [4, 2, 1])
  await releaseAll()
})

t.test('what a company gives back goes to those that hold less', async t => {
  const [first, second] = ['first', 'second']
  await send(first, 20)
  await until(() => heldBy(first) === 4)
  await send(second, 20)
  await until(() => heldBy(second) === 2)
  const [one] = [...running.values()].filter(({ company_id: id }) => id === first)
  one!.release()
  await until(() => heldBy(second) === 3)
  await looked()
  t.strictSame([heldBy(first), heldBy(second)], [3, 3])
  await query(`delete from pgboss.job where name = $1 and state = 'created' and data ->> 'company_id' = $2`, [
    hold.name,
    first,
  ])
  for (const { company_id: id, release } of running.values()) if (id === first) release()
  await until(() => heldBy(first) === 0 && heldBy(second) === 4)
  t.equal(heldBy(second), 4, 'one that is alone again holds its half')
  await releaseAll()
})

t.test('the limit of a group counts over processes, and the share of a company in each', async t => {
  const twin = await startTwin()
  await send('first', 6, 'one group')
  await until(() => heldBy('first') >= 2)
  await looked()
  t.equal(heldBy('first'), 2)
  await releaseAll()
  await send('second', 20)
  await until(() => heldBy('second') === 8)
  await looked()
  t.equal(heldBy('second'), 8, 'four in each of two processes')
  await releaseAll()
  await twin.stop({ timeout: 1_000 })
})

t.test('a share follows what is held at the moment', async t => {
  const shares = shareSlots(8)
  const { tiers, ...rest } = shares.limits(3)
  t.strictSame(rest, { default: 3 })
  const closed = () => JSON.parse(JSON.stringify(tiers)) as object
  const ends: (() => void)[] = []
  const take = (company: string, count: number) =>
    Array.from({ length: count }, () =>
      shares.hold(company, () => new Promise<void>(end => void ends.push(end))),
    )
  const held = take('a', 3)
  t.strictSame(closed(), {})
  held.push(...take('a', 1))
  t.strictSame(closed(), { a: 0 })
  held.push(...take('b', 2))
  t.strictSame(closed(), { a: 0, b: 0 })
  ends.slice(0, 3).forEach(end => end())
  await Promise.all(held.slice(0, 3))
  t.strictSame(closed(), {})
  await t.rejects(shares.hold('b', () => Promise.reject(new Error('failed'))))
  ends.forEach(end => end())
  await Promise.all(held)
  t.strictSame(closed(), {})
})

t.test('a kind of job that handles lost processes hears of each, and is never parked for them', async t => {
  const id = randomUUID()
  await query(
    `insert into pgboss.job (name, data, state, dead_letter, retry_limit, retry_count, started_on, output)
     values ($1, $2, 'retry', 'jobs.dead', 10, 5, now(), '{"value": {"message": "job heartbeat timeout"}}')`,
    [survivor.name, { id, _crashes: 2 }],
  )
  await until(() => losses.has(id))
  t.strictSame(losses.get(id), [true])
  const other = randomUUID()
  await server.jobs.send(survivor, { id: other })
  await until(() => losses.has(other))
  t.strictSame(losses.get(other), [false])
  await until(
    async () =>
      (await query(`select from pgboss.job where name = $1 and state = 'completed'`, [survivor.name]))
        .length === 2,
  )
  t.match(await query(`select data from pgboss.job where data ->> 'id' = $1`, [id]), [
    { data: { _crashes: 2 } },
  ])
})

t.test('companies take turns from the job that started last, and a backlog is behind its own', async t => {
  const turns = countTurns()
  const next = (company: string, count = 1) =>
    Array.from({ length: count }, () => turns.assign({ data: { company_id: company }, group: 'g' }).turn)
  t.strictSame(next('many', 4), [1, 2, 3, 4])
  t.strictSame(next('few'), [1])
  turns.noteStarted(3)
  t.strictSame(next('few', 2), [4, 5])
  t.strictSame(next('many'), [5])
  turns.noteStarted(9)
  turns.noteStarted(2)
  t.strictSame([...next('many'), ...next('late')], [10, 10], 'the past counts no more')
  t.strictSame(turns.assign({ data: { company_id: 'few' }, group: { id: 'g', tier: 'x' } }).group, {
    id: 'g',
    tier: 'few',
  })
  for (let n = 0; n < 3_000; n += 1) next(`company ${n}`)
  t.strictSame(next('many'), [11], 'what is still to come is kept')
})
