/**
 * What checks of a day cost on a large table, over checks of all of it: `node test/bench/windows.ts [rows] [rounds]`, with
 * rows in 60 daily partitions of PostgreSQL.
 *
 * Fifty checks are measured end to end, from the start of the table's job until its results are committed: once of all rows,
 * once of the newest day with the two days before it. By hand is one SELECT of the same numbers, grouped by day, over a
 * connection that is open. The ways take turns, and medians are printed. All numbers must agree. Rows read are those that
 * EXPLAIN (ANALYZE) counts for the statement of the product. Then, before each of some passes over all rows, a day is loaded:
 * the product reads that day alone, and by hand is one SELECT of that partition. `node test/bench/windows.ts 600000 1` is short enough to run at
 * every change.
 */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { startServer, type Tenant } from '../helpers/server.ts'
import { startStockPostgres } from '../helpers/stock-postgres.ts'
import { discover } from '../helpers/world.ts'
import { compareRounds, median, positionalWords, printRows, withTeardown } from './rows.ts'

const rows = Number(positionalWords[0] ?? 30_000_000)
const rounds = Number(positionalWords[1] ?? 3)
const DAYS = 60
const PER_DAY = Math.floor(rows / DAYS)
/** The days that a run measures: the newest, and two that are looked at again. */
const MEASURED_DAYS = 3
const DAY_MS = 86_400_000
const END = new Date(Date.UTC(2026, 10, 1))
/** The most that a run may take of the time of the SELECT by hand. */
const MAX_RATIO = 1.05

const dayText = (day: number) => new Date(END.getTime() - day * DAY_MS).toISOString().slice(0, 10)

/** A check, and its number by hand: of a rule the invalid rows. */
interface Ask {
  body: Record<string, unknown>
  hand: string
}

const COLUMNS = ['user_id', 'amount', 'status', 'note', 'country']
const NUMBERS = ['user_id', 'amount']

function metric(type: string, column: string, hand: string, more: object = {}): Ask {
  return { body: { metric_type: type, column_name: column, ...more }, hand }
}

function rule(type: string, column: string, config: object, hand: string): Ask {
  const body = { rule_type: type, column_name: column, rule_config: config, treat_null_as_valid: true }
  return { body, hand: `count(*) filter (where ${hand})` }
}

const ASKS: Ask[] = [
  { body: { metric_type: 'row_count' }, hand: 'count(*)' },
  ...COLUMNS.map(column =>
    metric('null_percent', column, `100.0 * count(*) filter (where ${column} is null) / count(*)`),
  ),
  ...COLUMNS.map(column => rule('NOT_NULL', column, {}, `${column} is null`)),
  ...NUMBERS.flatMap(column => [
    metric('min_value', column, `min(${column})`),
    metric('max_value', column, `max(${column})`),
    metric('mean', column, `avg(${column})`),
    metric('sum', column, `sum(${column})`),
    metric('standard_deviation', column, `stddev_samp(${column}::float8)`),
  ]),
  ...['status', 'note'].flatMap(column => [
    metric('min_length', column, `min(length(${column}))`),
    metric('mean_length', column, `avg(length(${column}))`),
    metric('max_length', column, `max(length(${column}))`),
  ]),
  ...[10, 20, 30, 40, 50, 60, 70, 80].map(max => rule('RANGE', 'amount', { max }, `amount > ${max}`)),
  rule(
    'ENUM',
    'status',
    { allowed_values: ['new', 'paid', 'sent'] },
    `status not in ('new', 'paid', 'sent')`,
  ),
  rule('ENUM', 'country', { allowed_values: ['DE', 'FR'] }, `country not in ('DE', 'FR')`),
  rule('REGEX', 'note', { pattern: '^note' }, `note !~ '^note'`),
  ...['DE', 'FR', 'NL', 'IT'].flatMap(country => [
    metric('mean', 'amount', `avg(amount) filter (where country = '${country}')`, {
      filter: `country = '${country}'`,
    }),
    metric('sum', 'amount', `sum(amount) filter (where country = '${country}')`, {
      filter: `country = '${country}'`,
    }),
    metric('max_value', 'user_id', `max(user_id) filter (where country = '${country}')`, {
      filter: `country = '${country}'`,
    }),
  ]),
]

await withTeardown(async t => {
  const cluster = await startStockPostgres()
  const admin = new pg.Client({ ...cluster, database: 'postgres' })
  await admin.connect()
  await admin.query('create database shop')
  await admin.query(`create role reader login password 'reader' in role pg_read_all_data`)
  const owner = new pg.Client({ ...cluster, database: 'shop' })
  await owner.connect()
  t.teardown(() => Promise.all([admin.end(), owner.end()]))
  await fill(owner)
  console.log(
    `${(PER_DAY * DAYS).toLocaleString('en')} rows in ${DAYS} partitions, ${ASKS.length} checks, medians of ${rounds} rounds`,
  )
  const app = await startServer(t, { settings: { STATEMENT_TIMEOUT: '3600' } })
  const config = {
    ...{ host: cluster.host, port: cluster.port, database: 'shop' },
    ...{ username: 'reader', password: 'reader', sslmode: 'prefer' },
  }

  /** A company with the source and the checks, and a way to run them as they would have run at the end of the days. */
  async function company(
    more: object,
    { reads, statements: expected }: { reads: string; statements: number },
  ) {
    const tenant = await app.signUp()
    const made = await tenant.ask('POST', '/api/v1/sdk/assets', {
      ...{ name: 'shop', source_type: 'postgresql', connection_config: config },
    })
    const asset = made.body.data as { id: string }
    await discover({ app, tenant, asset })
    const [table] = await app.query('select id from tables where source_id = $1 and name = $2', [
      asset.id,
      'events',
    ])
    await tenant.ask('PATCH', `/api/v1/sdk/assets/${String(table?.id)}/parts`, { reads })
    for (const { body } of ASKS)
      await make(tenant, asset.id, { table_path: 'public.events', ...body, ...more })
    return {
      async run(): Promise<number> {
        await app.query('delete from check_results where company_id = $1', [tenant.companyId])
        await app.query('update checks set last_bucket_end = null where company_id = $1', [tenant.companyId])
        const startedAt = performance.now()
        const { statements } = await app.server.plugins.checks.runTable(
          tenant.companyId,
          String(table?.id),
          'active',
          { at: END },
        )
        const ms = performance.now() - startedAt
        if (statements < expected || (expected === 1 && statements > 1))
          throw new Error(`${statements} statements`)
        return ms
      },
      /** The number of each check: of the newest day where it has a window. */
      numbers: () =>
        app.query(
          `select distinct on (c.id) case c.kind when 'validity' then cast(r.details ->> 'invalidCount' as float8) else r.value end as number
           from checks c join check_results r on r.company_id = c.company_id and r.check_id = c.id
           where c.company_id = $1 order by c.id, r.at desc`,
          [tenant.companyId],
        ),
    }
  }

  const whole = await company({}, { reads: 'whole', statements: 1 })
  const daily = await company(
    { time_column: 'at', window: '1d', revisit: MEASURED_DAYS - 1 },
    { reads: 'whole', statements: 1 },
  )
  // A list of the partitions, and what reads those that changed: of the first pass as many as there are rows for.
  const merged = await company({}, { reads: 'changed', statements: 2 })
  const list = ASKS.map(({ hand }, place) => `${hand} as n${place}`).join(', ')
  const ways = {
    'whole table': { run: whole.run, hand: `select ${list} from events` },
    'newest days': {
      run: daily.run,
      hand: `select date_trunc('day', at) as day, ${list} from events
        where at >= '${dayText(MEASURED_DAYS)}' and at < '${dayText(0)}' group by 1 order by 1 desc`,
    },
  }
  const reader = new pg.Client({ ...cluster, database: 'shop', user: 'reader', password: 'reader' })
  await reader.connect()
  t.teardown(() => reader.end())
  for (const name of Object.keys(ways) as (keyof typeof ways)[]) {
    const { rows: byHand } = await reader.query(ways[name].hand)
    const way = name === 'whole table' ? whole : daily
    const before = await rowsRead(owner)
    await way.run()
    await pause(1_500)
    console.log(
      `${name}: ${((await rowsRead(owner)) - before).toLocaleString('en')} rows read by the product`,
    )
    agree(await way.numbers(), byHand[0] as Record<string, unknown>)
  }
  const times = new Map<string, number[]>()
  const note = (name: string, ms: number) => times.set(name, [...(times.get(name) ?? []), ms])
  for (let round = 0; round < rounds; round += 1)
    for (const [name, { run, hand }] of Object.entries(ways)) {
      const measureHand = async () => {
        const startedAt = performance.now()
        await reader.query(hand)
        note(`${name} by hand`, performance.now() - startedAt)
      }
      if (round % 2 === 0) await measureHand()
      note(name, await run())
      if (round % 2 === 1) await measureHand()
    }
  const wholeMs = median(times.get('whole table')!)
  const startedAt = performance.now()
  await merged.run()
  note('first pass by partitions', performance.now() - startedAt)
  for (let round = 0; round < rounds; round += 1) {
    const day = -round
    const name = await load(owner, day)
    await owner.query('select pg_stat_force_next_flush()')
    const measureHand = async () => {
      const handAt = performance.now()
      await reader.query(`select ${list} from only ${name}`)
      note('a new day by hand', performance.now() - handAt)
    }
    await reader.query('select pg_stat_force_next_flush()')
    await pause(1_500)
    const before = await rowsRead(owner)
    if (round % 2 === 0) await measureHand()
    note('a new day of all', await merged.run())
    if (round % 2 === 1) await measureHand()
    await reader.query('select pg_stat_force_next_flush()')
    await pause(1_500)
    const read = (await rowsRead(owner)) - before - PER_DAY
    console.log(`a new day of all: ${read.toLocaleString('en')} rows read by the product`)
    const { rows: byHand } = await reader.query(ways['whole table'].hand)
    agree(await merged.numbers(), byHand[0] as Record<string, unknown>)
  }
  for (const [name, ms] of times) console.log(`${name}: ${median(ms).toFixed(0)} ms`)
  const { rows: plan } = await reader.query(`explain (costs off) ${ways['newest days'].hand}`)
  console.log(plan.map(line => String(line['QUERY PLAN'])).join('\n'))
  printRows(
    Object.keys(ways)
      .map(name => ({
        what: `${ASKS.length} checks, ${name} of ${rows.toLocaleString('en')} rows`,
        unit: 'ms',
        bar: { most: MAX_RATIO },
        ...compareRounds(times.get(name)!, times.get(`${name} by hand`)!),
      }))
      .concat({
        what: `${ASKS.length} checks of all rows after a day's load, of ${rows.toLocaleString('en')} rows`,
        unit: 'ms',
        bar: { most: MAX_RATIO },
        ...compareRounds(times.get('a new day of all')!, times.get('a new day by hand')!),
      }),
  )
  const mergedMs = median(times.get('a new day of all')!)
  console.log(`after a day's load, 1/${(wholeMs / mergedMs).toFixed(1)} of the whole pass`)
})

async function fill(owner: pg.Client): Promise<void> {
  await owner.query(
    `create table events (id bigint not null, at timestamp not null, user_id int, amount double precision, status text,
       note text, country text) partition by range (at)`,
  )
  for (let day = DAYS; day > 0; day -= 1) await load(owner, day)
  await owner.query('vacuum analyze events')
}

/** Makes the partition of a day with its rows. @returns its name */
async function load(owner: pg.Client, day: number): Promise<string> {
  const name = `events_${dayText(day).replaceAll('-', '')}`
  await owner.query(
    `create table ${name} partition of events for values from ('${dayText(day)}') to ('${dayText(day - 1)}')`,
  )
  await owner.query(
    `insert into ${name} select g, timestamp '${dayText(day)}' + (g % 86400) * interval '1 second',
       nullif(g % 1000, 7), nullif(g % 97, 3) + 0.5, (array['new', 'paid', 'sent', 'odd'])[1 + g % 4],
       case when g % 50 > 0 then 'note ' || g % 300 end, (array['DE', 'FR', 'NL', 'IT', 'ES'])[1 + g % 5]
     from generate_series(1, ${PER_DAY}) g`,
  )
  return name
}

async function make(tenant: Tenant, assetId: string, body: Record<string, unknown>): Promise<void> {
  const path = body.rule_type === undefined ? 'metrics' : 'validity'
  for (;;) {
    const made = await tenant.ask('POST', `/api/v1/sdk/${path}/${assetId}`, body)
    if (made.status < 300) return
    if (made.status !== 429) throw new Error(JSON.stringify([body, made.body]))
    await pause(1_000)
  }
}

/** Rows that scans of the partitions have given, once the sessions of the product have ended. */
async function rowsRead(owner: pg.Client): Promise<number> {
  const { rows: found } = await owner.query(
    `select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::float8 as read from pg_stat_user_tables`,
  )
  return Number((found[0] as { read: number }).read)
}

function agree(ours: Record<string, unknown>[], byHand: Record<string, unknown>): void {
  const wrong = ours.flatMap(({ number }, place) => {
    const hand = Number(byHand[`n${place}`])
    const isEqual = Math.abs(Number(number) - hand) <= 1e-9 * Math.max(1, Math.abs(hand))
    return isEqual ? [] : [`${JSON.stringify(ASKS[place]!.body)}: ${String(number)}, by hand ${hand}`]
  })
  if (ours.length !== ASKS.length || wrong.length > 0)
    throw new Error(`${ours.length} of ${ASKS.length} numbers; wrong are ${wrong.join('; ')}`)
}
