import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { hold, running } from '../../helpers/extensions/shared-jobs.ts'
import { startServer } from '../../helpers/server.ts'
import { countChanges } from '../../helpers/statement-counts.ts'

const EXTENSIONS = new URL('../../helpers/extensions/shared-jobs.ts', import.meta.url).href

/** Half of the slots of `hold`, which one company may fill. */
const SHARE = 4

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await wait(20)
}

t.test('jobs are claimed and completed many in a statement, and a slow one holds up no other', async t => {
  const app = await startServer(t, { settings: { EXTENSIONS }, isOwn: true })
  const { server, query } = app
  const company = randomUUID()
  const items = Array.from({ length: SHARE }, () => ({
    data: { company_id: company, id: randomUUID() },
    group: randomUUID(),
  }))
  const claims = await countChanges(app, 'pgboss.job_common')
  const ends = await countChanges(app, 'pgboss.job')
  await server.db.system(trx => server.jobs.sendAll(hold, items, { trx }))
  await until(() => running.size === SHARE)
  // A wake that found no job was a statement too.
  const found = await query(`select count(distinct started_on)::int as n from pgboss.job where name = $1`, [
    hold.name,
  ])
  t.strictSame(found, [{ n: 1 }], 'one statement claimed all')
  t.ok((await claims()) > 0)
  const before = await ends()
  const [slow, ...others] = items
  for (const { data } of others) running.get(data.id)!.release()
  const states = () =>
    query(`select id, completed_on from pgboss.job where name = $1 and state = 'completed'`, [hold.name])
  await until(async () => (await states()).length === others.length)
  t.equal(new Set((await states()).map(({ completed_on: at }) => Number(at))).size, 1)
  t.equal((await ends()) - before, 1, 'one statement completed those that ended together')
  running.get(slow!.data.id)!.release()
  await until(async () => (await states()).length === items.length)
})

t.test(
  'jobs that were lost twice run one at a time, so that they are not counted with the culprit',
  async t => {
    const { query } = await startServer(t, { settings: { EXTENSIONS }, isOwn: true })
    const ids = [randomUUID(), randomUUID(), randomUUID()]
    await query(
      `insert into pgboss.job (name, data, state, dead_letter, retry_limit, retry_count, started_on, output)
     select $1, jsonb_build_object('id', id, 'company_id', $2::text, '_crashes', 1), 'retry', 'jobs.dead', 10, 1, now(),
       '{"value": {"message": "job heartbeat timeout"}}'
     from unnest($3::text[]) id`,
      [hold.name, randomUUID(), ids],
    )
    const jobs = (state: string) =>
      query(`select data from pgboss.job where name = $1 and state = $2`, [hold.name, state])
    for (const waiting of [2, 1, 0]) {
      await until(async () => (await jobs('active')).length === 1 && (await jobs('retry')).length === waiting)
      await until(() => ids.some(id => running.has(id)))
      const started = ids.filter(id => running.has(id))
      t.equal(started.length, 1)
      t.strictSame(
        (await jobs('retry')).map(({ data }) => (data as { _crashes: number })._crashes),
        Array(waiting).fill(1),
        'those that were not started are not counted',
      )
      running.get(started[0]!)!.release()
      await until(async () => (await jobs('completed')).length === 3 - waiting)
    }
  },
)

t.test('a result that the database did not take is stored when it is back', async t => {
  const { server, query } = await startServer(t, { settings: { EXTENSIONS }, isOwn: true })
  const id = randomUUID()
  await query(
    `create function away() returns trigger language plpgsql as $$ begin
       if new.state = 'completed' then raise 'shutting down' using errcode = '57P01'; end if;
       return new;
     end $$`,
  )
  await query('create trigger away before update on pgboss.job for each row execute function away()')
  await server.jobs.send(hold, { company_id: randomUUID(), id }, { group: id })
  await until(() => running.has(id))
  running.get(id)!.release()
  await wait(300)
  const stored = () => query(`select state, retry_count from pgboss.job where name = $1`, [hold.name])
  t.strictSame(await stored(), [{ state: 'active', retry_count: 0 }])
  await query('drop trigger away on pgboss.job')
  await until(async () => (await stored())[0]?.state === 'completed')
  t.strictSame(await stored(), [{ state: 'completed', retry_count: 0 }], 'it was not run again')
})
