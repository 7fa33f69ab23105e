import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Transaction } from '../../../server/database/database.ts'
import { claimDue, INTERVAL_SECONDS } from '../../../server/database/due.ts'
import { startServer } from '../../helpers/server.ts'

const { server, query, signUp } = await startServer(t)
const { companyId } = await signUp()

const claim = (trx: Transaction, limit?: number) =>
  claimDue(trx, 'checks', { interval: 'check_interval', source: 'source_id', table: 'table_id' }, { limit })

/** A source with one table. */
async function makeTable(isActive = true): Promise<{ sourceId: string; tableId: string }> {
  const [sourceId, tableId] = [randomUUID(), randomUUID()]
  await query(
    `insert into sources (id, company_id, name, source_type, config, is_active) values ($1, $2, 'shop ' || ($1::uuid)::text, 'postgresql', '{}', $3)`,
    [sourceId, companyId, isActive],
  )
  await query(
    `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns, constraints, fingerprint)
     values ($1, $2, $3, 'shop', 'public', 't', 'shop.public.t', 'table', '[]', '[]', '')`,
    [tableId, companyId, sourceId],
  )
  return { sourceId, tableId }
}

/** A rule that is due at a moment, given as PostgreSQL reads it: `now() - interval '3 hours'`. */
async function makeRule(
  dueAt: string,
  { interval = '1h', isActive = true, at }: { interval?: string; isActive?: boolean; at?: object } = {},
) {
  const { sourceId, tableId } = (at as Awaited<ReturnType<typeof makeTable>>) ?? (await makeTable())
  const uuid = randomUUID()
  await query(
    `insert into checks (uuid, company_id, source_id, table_id, type, name, severity, check_interval,
       kind, sensitivity, settings, is_active, next_run_at)
     values ($1, $2, $3, $4, 'NOT_NULL', 'r', 'warning', $5, 'validity', 3, '{"detectionMode": "manual", "operatingPeriodMode": "off", "treatNullAsValid": false}', $6, ${dueAt})`,
    [uuid, companyId, sourceId, tableId, interval, isActive],
  )
  return { uuid, sourceId, tableId }
}

const slots = (uuid: string) =>
  query('select next_run_at, running_slot from checks where uuid = $1', [uuid]).then(([row]) => row)

t.afterEach(() => query('delete from checks'))

t.test('what was missed comes once, and the next time is on the old grid and in the future', async t => {
  const dueBefore: [string, string][] = [
    ['1h', `interval '1 second'`],
    ['1h', `interval '58 minutes'`],
    ['5m', `interval '7 hours 3 minutes'`],
    ['1d', `interval '100 days 5 hours'`],
    ['daily', `interval '25 hours'`],
    ['every_4_hours', `interval '9 hours 30.25 seconds'`],
    ['1w', `interval '400 days'`],
  ]
  for (const [interval, age] of dueBefore) {
    const { uuid, sourceId, tableId } = await makeRule(`now() - ${age}`, { interval })
    const before = await slots(uuid)
    t.strictSame(
      await server.db.system(trx => claim(trx)),
      [{ companyId, sourceId, tableId, slot: before?.next_run_at }],
      `${interval} ${age}`,
    )
    t.strictSame(await server.db.system(trx => claim(trx)), [], 'it is not due any more')
    const after = await slots(uuid)
    t.strictSame(after?.running_slot, before?.next_run_at, 'the slot is the time it was due at')
    const [grid] = await query(
      `select extract(epoch from next_run_at - running_slot)::numeric % $2 as off_grid,
         next_run_at > now() and next_run_at <= now() + make_interval(secs => $2) as is_next
       from checks where uuid = $1`,
      [uuid, INTERVAL_SECONDS[interval as keyof typeof INTERVAL_SECONDS]],
    )
    t.match(grid, { off_grid: /^0(\.0+)?$/, is_next: true }, `${interval} ${age}`)
  }
})

t.test('what is not due, not active or of an unknown interval is left alone', async t => {
  const left = [
    await makeRule(`now() + interval '1 minute'`),
    await makeRule(`now() - interval '1 minute'`, { isActive: false }),
    await makeRule(`now() - interval '1 minute'`, { at: await makeTable(false) }),
    await makeRule(`now() - interval '1 minute'`, { interval: 'fortnightly' }),
  ]
  const all = () => query('select uuid, next_run_at, running_slot from checks order by uuid')
  const before = await all()
  t.equal(before.length, left.length)
  t.strictSame(await server.db.system(trx => claim(trx)), [])
  t.strictSame(await all(), before)
})

t.test('sources are claimed by their own row; one that is off, or switched off, is not', async t => {
  const due = (id: string, interval: string) =>
    query(
      `update sources set discovery_interval = $2, next_run_at = now() - interval '1 hour' where id = $1`,
      [id, interval],
    )
  const [active, inactive, off] = [await makeTable(), await makeTable(false), await makeTable()]
  await due(active.sourceId, 'daily')
  await due(inactive.sourceId, 'daily')
  await due(off.sourceId, 'off')
  const claimed = await server.db.system(trx =>
    claimDue(trx, 'sources', { interval: 'discovery_interval', source: 'id' }),
  )
  t.strictSame(
    claimed.map(({ sourceId, tableId }) => [sourceId, tableId]),
    [[active.sourceId, undefined]],
  )
})

t.test('two that claim at the same time never share a row', async t => {
  const at = await makeTable()
  const made: string[] = []
  for (let n = 1; n <= 6; n++) made.push((await makeRule(`now() - interval '${n} minutes'`, { at })).uuid)
  const held = Promise.withResolvers<void>()
  const hasClaimed = Promise.withResolvers<void>()
  const first = server.db.system(async trx => {
    const claimed = await claim(trx, 4)
    hasClaimed.resolve()
    await held.promise
    return claimed
  })
  await hasClaimed.promise
  const second = await server.db.system(trx => claim(trx))
  const third = await server.db.system(trx => claim(trx))
  held.resolve()
  t.strictSame([(await first).length, second.length, third.length], [4, 2, 0])
  t.strictSame(await server.db.system(trx => claim(trx)), [], 'nor after both have committed')
  const claimed = await query('select from checks where running_slot is not null')
  t.equal(claimed.length, made.length)
})

t.test('a claim that is rolled back is due again', async t => {
  const { uuid } = await makeRule(`now() - interval '1 minute'`)
  const before = await slots(uuid)
  await t.rejects(
    server.db.system(async trx => {
      t.equal((await claim(trx)).length, 1)
      throw new Error('the process died')
    }),
    { message: 'the process died' },
  )
  t.strictSame(await slots(uuid), before)
  t.equal((await server.db.system(trx => claim(trx))).length, 1)
})
