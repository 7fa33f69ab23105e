/** What did not change is not read again, and the result is as if all had been read. */
import t, { type Test } from 'tap'
import type { CheckOutcome } from '../../../checks/check.ts'
import { randomOf } from '../../bench/detector-random.ts'
import { check } from '../scan-helpers.ts'
import { logPostgresql } from '../../helpers/statement-log.ts'
import {
  dayText,
  makeEvents,
  mergeableChecks,
  partitionOf,
  rowsOf,
  wholeChecks,
  type Events,
} from './events.ts'

const FILTER = `status <> 'paid' and at >= '2026-01-02'`

/** The numbers of an outcome, floats to what the order of adding leaves of them. */
function numbersOf(outcome: CheckOutcome) {
  if (outcome.status === 'counted') return { total: outcome.total, invalid: outcome.invalid }
  if (outcome.status !== 'measured') return outcome
  return {
    total: outcome.total,
    value: outcome.value === null ? null : Number(outcome.value.toPrecision(11)),
  }
}

async function agrees(t: Test, events: Events, what: string) {
  const checks = [...mergeableChecks(), ...mergeableChecks({ filter: FILTER }), ...wholeChecks()]
  const merged = await events.merged(checks)
  const whole = await events.whole(checks)
  t.strictSame(merged.outcomes.map(numbersOf), whole.map(numbersOf), what)
  return merged
}

t.test('after any changes, merged numbers are those of the whole table', async t => {
  const { uniform } = randomOf('parts')
  const events = await makeEvents(t, 4)
  let days = 4
  const pick = () => Math.floor(uniform() * days)
  const detached = new Set<number>()
  const CHANGES: Record<string, () => string[]> = {
    insert: () => [rowsOf(pick(), 1 + Math.floor(uniform() * 40), Math.floor(uniform() * 100))],
    update: () => [`update events set amount = amount + 1 where id % 3 = ${pick() % 3}`],
    'update of one day': () => [`update events set status = 'late' where at >= '${dayText(pick())}'`],
    move: () => [`update events set at = at + interval '1 day' where at < '${dayText(1)}' and id % 2 = 0`],
    delete: () => [`delete from events where id % 7 = ${pick()}`],
    truncate: () => [`truncate events_${pick()}`],
    'detach and attach': () => {
      const day = pick()
      if (detached.delete(day))
        return [
          `alter table events attach partition events_${day} for values from ('${dayText(day)}') to ('${dayText(day + 1)}')`,
        ]
      detached.add(day)
      return [`alter table events detach partition events_${day}`]
    },
    'new partition': () => [partitionOf((days += 1) - 1), rowsOf(days - 1, 20, days)],
    'stats reset': () => ['select pg_stat_reset()', rowsOf(pick(), 3, 1)],
    'reset of one table': () => [`select pg_stat_reset_single_table_counters('events_${pick()}'::regclass)`],
    rewrite: () => [`vacuum full events_${pick()}`],
    'rolled back': () => ['begin', `delete from events`, 'rollback'],
  }
  await events.change(rowsOf(0, 30, 1), rowsOf(2, 50, 2))
  await agrees(t, events, 'at first')
  for (let step = 0; step < 40; step += 1) {
    const names = Object.keys(CHANGES)
    const made: string[] = []
    for (let some = Math.floor(uniform() * 3); some >= 0; some -= 1) {
      const name = names[Math.floor(uniform() * names.length)]!
      made.push(name)
      // Rows of a partition that is detached have no place to go.
      await events.change(...CHANGES[name]!()).catch((error: Error) => {
        if (!/no partition of relation/.test(error.message)) throw error
      })
    }
    await agrees(t, events, `${step}: ${made.join(', ')}`)
  }
})

t.test('only partitions that changed are read, in one statement', async t => {
  const events = await makeEvents(t, 5)
  await events.change(...[0, 1, 2, 3, 4].map(day => rowsOf(day, 20, day)))
  const first = await events.merged(mergeableChecks())
  t.strictSame(first.parts?.use, { parts: 5, read: 5, rowsRead: 100, rowsKnown: 0 })
  t.equal(first.statements, 2, 'the list of the parts, and one for all of them')
  await events.change(rowsOf(3, 1, 9))
  const log = await logPostgresql(events.source)
  const next = await events.merged(mergeableChecks())
  const statements = (await log.take()).statements.map(({ text }) => text)
  t.strictSame(next.parts?.use, { parts: 5, read: 1, rowsRead: 21, rowsKnown: 80 })
  const reads = statements.filter(text => text.includes('from only'))
  t.equal(reads.length, 1)
  t.match(reads[0], 'from only public.events_3')
  t.notMatch(reads[0], /events_[0124]/)
  const again = await events.merged(mergeableChecks())
  t.strictSame(again.parts?.use, { parts: 5, read: 0, rowsRead: 0, rowsKnown: 101 })
  t.equal(again.statements, 1)
})

t.test('a new check reads its own numbers alone of partitions that are known', async t => {
  const events = await makeEvents(t, 3)
  await events.change(rowsOf(0, 20, 1), rowsOf(1, 20, 1))
  await events.merged([check('row_count')])
  const log = await logPostgresql(events.source)
  await events.merged([check('row_count'), check('sum', 'amount')])
  const statements = (await log.take()).statements.map(({ text }) => text)
  const [read] = statements.filter(text => text.includes('from only'))
  t.match(read, 'sum(amount)')
  t.notMatch(read, 'count(*)')
})

t.test('sums are exact, however long they are', async t => {
  const events = await makeEvents(t, 3)
  const big = '99999999999999999999.0000000001'
  for (const day of [0, 1, 2])
    await events.change(
      `insert into events (at, price) values ('${dayText(day)}', ${day === 1 ? '-' : ''}${big})`,
    )
  const { outcomes } = await events.merged([check('sum', 'price')])
  t.match(outcomes, [{ value: Number(big) }])
  await events.change(`insert into events (at, price) values ('${dayText(0)}', -${big})`)
  t.match((await events.merged([check('sum', 'price')])).outcomes, [{ value: 0 }])
})

t.test('a column that is made anew, or whose type changes, voids what was known', async t => {
  const events = await makeEvents(t, 3)
  await events.change(rowsOf(0, 20, 1), rowsOf(1, 20, 1))
  await agrees(t, events, 'before')
  // None of these changes a row, as the server counts.
  await events.change('alter table events drop amount', 'alter table events add amount int default 60')
  await agrees(t, events, 'a default')
  await events.change(
    'alter table events rename amount to other',
    'alter table events rename ratio to amount',
    'alter table events rename other to ratio',
  )
  await agrees(t, events, 'names')
  await events.change('alter table events alter status type varchar(20)')
  await agrees(t, events, 'a type')
})

t.test('a filter that depends on the time is not merged', async t => {
  const events = await makeEvents(t, 3)
  await events.change(rowsOf(0, 20, 1), rowsOf(1, 20, 1))
  for (const filter of [
    `at < now()`,
    `at < current_date`,
    `at < localtimestamp`,
    `at < 'now'`,
    `at < ' TODAY '`,
    `at < timestamp 'tomorrow'`,
    `day::date < '2026-01-01'`,
    `length(status) > 2`,
    `ctid > '(0,0)'`,
    `tableoid > 0`,
    `events.amount > 0`,
    `amount operator(public.>) 0`,
  ]) {
    const { parts } = await events.merged([check('row_count', undefined, {}, { filter })])
    t.equal(parts, null, filter)
  }
  for (const filter of [
    FILTER,
    `amount in (1, 2) or status like 'p%' or status = 'unknown'`,
    `amount between 1 and 5 and not (ratio is null)`,
    `at >= date '2026-01-02'`,
    `case when amount > 3 then status = 'new' else true end`,
  ]) {
    const { parts } = await events.merged([check('row_count', undefined, {}, { filter })])
    t.equal(parts?.use.parts, 3, filter)
  }
})

t.test(
  'what the server does not count, or rows that it hides, leaves the table to be read whole',
  async t => {
    const events = await makeEvents(t, 3)
    const { source } = events
    await events.change(rowsOf(0, 20, 1), rowsOf(1, 20, 1))
    const parts = async () => (await events.merged([check('row_count')])).parts
    t.ok(await parts())
    await events.change(
      'alter table events enable row level security',
      'create policy visible on events using (amount > 20)',
    )
    t.equal(await parts(), null, 'row-level security')
    await events.change('alter table events disable row level security')
    t.ok(await parts())
    await events.change(`alter role ${source.config.username} set track_counts = off`)
    t.equal(await parts(), null, 'counters are off for a role')
    await events.change(`alter role ${source.config.username} reset track_counts`)
    await events.change(
      'alter table events drop constraint events_pkey',
      `create extension postgres_fdw`,
      `create server other foreign data wrapper postgres_fdw`,
      `create foreign table far partition of events for values from ('2030-01-01') to ('2031-01-01') server other`,
    )
    t.equal(
      await events.connection.listParts!(await events.table(), { timeoutMs: 9_000 }),
      null,
      'a foreign table',
    )
    await events.change('drop foreign table far')
    await events.change('create table plain (id int)')
    t.equal(
      await events.connection.listParts!(
        { catalog: source.name, schema: 'public', name: 'plain' },
        { timeoutMs: 9_000 },
      ),
      null,
      'a table that is not partitioned',
    )
  },
)

t.test('a part with a number that is none has the check read whole, and the others merged', async t => {
  const events = await makeEvents(t, 3)
  await events.change(rowsOf(0, 20, 1), `insert into events (at, ratio) values ('${dayText(1)}', 'NaN')`)
  const checks = ['sum', 'mean', 'min_value', 'max_value', 'standard_deviation'].map(name =>
    check(name, 'ratio'),
  )
  const { outcomes, parts } = await events.merged([...checks, check('sum', 'amount')])
  t.strictSame(
    outcomes.map(outcome => (outcome.status === 'error' ? outcome.message : numbersOf(outcome))),
    (await events.whole([...checks, check('sum', 'amount')])).map(outcome =>
      outcome.status === 'error' ? outcome.message : numbersOf(outcome),
    ),
  )
  t.equal(parts?.use.read, 3)
})

t.test('samples come from the partitions that have invalid rows, the newest first', async t => {
  const events = await makeEvents(t, 4)
  await events.change(
    ...[0, 1, 2, 3].map(
      day => `insert into events (at, amount) values ('${dayText(day)}', ${day === 1 ? 1 : 99})`,
    ),
  )
  const rule = check('RANGE', 'amount', { max: 50 })
  const log = await logPostgresql(events.source)
  const { outcomes } = await events.merged([rule], { sampleLimit: 2 })
  t.match(outcomes, [{ invalid: 3, samples: [{ row_id: { id: '4' }, value: 99 }, { row_id: { id: '3' } }] }])
  const statements = (await log.take()).statements.map(({ text }) => text)
  t.strictSame(
    statements.filter(text => text.includes('limit')).map(text => /events_\d/.exec(text)?.[0]),
    ['events_3', 'events_2'],
  )
})

t.test('numbers that are old are read again, and compared', async t => {
  const events = await makeEvents(t, 3)
  await events.change(rowsOf(0, 20, 1), rowsOf(1, 20, 1))
  const checks = mergeableChecks()
  await events.merged(checks)
  const later = { rescanSeconds: 60, at: new Date(Date.now() + 3_600_000) }
  const fine = await events.merged(checks, later)
  t.strictSame(
    fine.parts?.read.map(({ differences }) => differences),
    [0, 0, 0],
  )
  const state = events.states.get('public.events_1')!
  const [key] = Object.keys(state.numbers)
  events.states.set('public.events_1', {
    ...state,
    numbers: { ...state.numbers, [key!]: { value: 12_345, at: 0 } },
  })
  const wrong = await events.merged(checks, { rescanSeconds: 1e6 })
  t.match(wrong.parts?.read, [{ name: 'public.events_1', differences: 1 }])
  t.strictSame(wrong.outcomes.map(numbersOf), (await events.whole(checks)).map(numbersOf))
})

t.test('parts that were read at once are verified some at a time, each within the days', async t => {
  const events = await makeEvents(t, 40)
  await events.change(rowsOf(3, 5, 1))
  const start = Date.now()
  const days = { rescanSeconds: 7 * 86_400 }
  const read: number[] = []
  for (let day = 0; day < 8; day += 1) {
    const at = new Date(start + day * 86_400_000 + 1_000 * day)
    const { parts } = await events.merged([check('row_count')], { ...days, at })
    read.push(parts?.use.read ?? -1)
  }
  const [first, ...later] = read
  t.equal(first, 40)
  t.equal(
    later.reduce((sum, count) => sum + count, 0),
    40,
    `each once in seven days: ${read.join(', ')}`,
  )
  t.ok(Math.max(...later) < 20, 'none reads half of them')
})
