import t from 'tap'
import { logPostgresql } from '../../../helpers/statement-log.ts'
import { discover, makeStage, makeWorldOn } from '../../../helpers/world.ts'

/** One server for all tests of this file, which have a source each. */
const stage = await makeStage(t)

const DAY_ROWS = 5_000
const DAYS = 20

/** A table with the rows of the last days in partitions of a day each, and the same in one heap. */
async function startEvents(t: Parameters<typeof makeWorldOn>[0]) {
  const day = (number: number) => `current_date + ${number - DAYS}`
  const world = await makeWorldOn(t, stage, [
    'create table events (at timestamp not null, amount int) partition by range (at)',
    `do $$ begin
      for n in 0..${DAYS} loop
        execute format('create table events_%s partition of events for values from (%L) to (%L)',
          n, ${day(0)} + n, ${day(1)} + n);
      end loop;
    end $$`,
    `insert into events select ${day(0)} + n * interval '1 day', i
      from generate_series(0, ${DAYS}) n, generate_series(1, ${DAY_ROWS}) i`,
    'create table heap as select * from events',
    'analyze events',
    'analyze heap',
    `create function tripwire(int) returns boolean language plpgsql immutable as
      $$ begin raise exception 'tripwire was run'; end $$`,
  ])
  await discover(world)
  const { tenant, asset } = world
  return {
    ...world,
    async dryRun(path: 'metrics' | 'validity', body: object) {
      const reply = await tenant.ask('POST', `/api/v1/sdk/${path}/dry-run`, {
        asset_id: asset.id,
        table_path: 'events',
        ...body,
      })
      if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
      return reply.body.data
    },
    async make(body: object) {
      const made = await tenant.ask('POST', `/api/v1/sdk/metrics/${asset.id}`, {
        table_path: 'events',
        ...body,
      })
      if (made.status !== 201) throw new Error(JSON.stringify(made.body))
    },
  }
}

const DAILY = { time_column: 'at', window: '1d' }

const isAbout = (found: number, wanted: number) => found > wanted / 1.5 && found < wanted * 1.5

t.test('a dry run says what a run and a month read, and what the window saves', async t => {
  const { dryRun, source } = await startEvents(t)
  const { cost } = await dryRun('metrics', { metric_type: 'sum', column_name: 'amount', ...DAILY })
  const { whole_table: whole, window } = cost
  t.ok(isAbout(whole.rows, (DAYS + 1) * DAY_ROWS), `${whole.rows} rows of the table`)
  t.ok(isAbout(window.rows, 3 * DAY_ROWS), `${window.rows} rows of the newest day and the two before it`)
  t.equal(whole.rows_per_month, 30 * whole.rows)
  t.equal(window.bytes_per_month, 30 * window.bytes)
  t.match(cost, { runs_per_month: 30, shared_with: 0 })
  t.ok(isAbout(cost.saving, 1 - 3 / (DAYS + 1)), `${cost.saving} saved`)
  t.match(
    cost.message,
    /^A run reads about [\d,]+ rows \(.* kB\), a month of 30 runs .* The window saves 86 %: without it, a run would read [\d,]+ rows \([\d.]+ MB\)\.$/,
  )
  const [size] = await source.query(`select sum(pg_relation_size(inhrelid))::int as n from pg_inherits`)
  t.equal(whole.bytes, size?.n)
})

t.test('without a window there is the whole table alone', async t => {
  const { dryRun } = await startEvents(t)
  const rule = { rule_type: 'NOT_NULL', column_name: 'amount', check_interval: 'weekly' }
  const { cost } = await dryRun('validity', rule)
  t.match(cost, { window: null, saving: null, runs_per_month: 4.3 })
  t.ok(isAbout(cost.whole_table.rows, (DAYS + 1) * DAY_ROWS))
})

t.test('a window on a table without partitions and indexes saves nothing, which is said', async t => {
  const { dryRun } = await startEvents(t)
  const { cost } = await dryRun('metrics', { table_path: 'heap', metric_type: 'row_count', ...DAILY })
  t.equal(cost.saving, 0)
  t.equal(cost.window.bytes, cost.whole_table.bytes, 'it is read once')
  t.match(cost.message, /The window saves nothing: .* Partitions by at, or an index/)
})

t.test('it counts the checks that the same statement measures', async t => {
  const { dryRun, make } = await startEvents(t)
  await make({ metric_type: 'row_count', ...DAILY })
  await make({ metric_type: 'max_value', column_name: 'amount', ...DAILY })
  await make({ metric_type: 'row_count' })
  await make({ metric_type: 'row_count', group_by_columns: ['amount'], ...DAILY, window: '7d' })
  const shared = async (body: object) => (await dryRun('metrics', body)).cost
  t.equal((await shared({ metric_type: 'min_value', column_name: 'amount', ...DAILY })).shared_with, 2)
  const one = await shared({ metric_type: 'min_value', column_name: 'amount' })
  t.match(one, { shared_with: 1, notes: [/One active check of this table .* adds almost nothing/] })
  const alone = await dryRun('validity', {
    rule_type: 'CUSTOM_SQL',
    rule_config: { sql_expression: 'select amount from heap where amount > 0' },
  })
  t.equal(alone.cost.shared_with, 0)
})

t.test('each form is explained once, and nothing more is sent than without', async t => {
  const { dryRun, source } = await startEvents(t)
  const log = await logPostgresql(source)
  await dryRun('metrics', { metric_type: 'sum', column_name: 'amount', ...DAILY, lookback_days: 1 })
  const { statements, sessions } = await log.take()
  const texts = statements.map(({ text }) => text)
  t.equal(texts.filter(text => /^explain /.test(text)).length, 2)
  t.equal(texts.filter(text => /pg_relation_size/.test(text)).length, 2)
  t.equal(
    texts.filter(text => /^select sum|^select count\(\*\)/i.test(text.trim())).length,
    2,
    'now and its past',
  )
  t.equal(texts.length, 6)
  t.equal(sessions.length, 2, 'as many as without')
})

t.test('what a user wrote is not planned', async t => {
  const { dryRun, source } = await startEvents(t)
  const log = await logPostgresql(source)
  const select = 'select count(*) as n from heap where tripwire(1)'
  const rule = { rule_type: 'CUSTOM_SQL' }
  const forms: ['metrics' | 'validity', object, number][] = [
    ['metrics', { metric_type: 'row_count', filter: 'tripwire(1)' }, 1],
    ['metrics', { metric_type: 'custom_sql', sql_expression: 'sum(case when tripwire(1) then 1 end)' }, 1],
    ['metrics', { metric_type: 'custom_sql', sql_expression: select }, 2],
    ['validity', { ...rule, rule_config: { sql_expression: 'tripwire(1)' } }, 1],
    ['validity', { ...rule, rule_config: { sql_expression: 'select 1 from heap where tripwire(1)' } }, 2],
    ['validity', { rule_type: 'UNIQUE', column_name: 'amount', filter: 'tripwire(1)', ...DAILY }, 2],
  ]
  for (const [path, body, readings] of forms) {
    const { cost, error_message: error } = await dryRun(path, body)
    const { rows } = cost.whole_table
    t.ok(isAbout(rows, readings * (DAYS + 1) * DAY_ROWS), `${rows} rows of ${JSON.stringify(body)}`)
    t.match(cost.notes, [/of yours is not planned/])
    t.match(error, /raised/, 'the check itself runs it')
  }
  const explained = (await log.take()).statements.filter(({ text }) => /^explain /.test(text))
  t.ok(explained.length >= forms.length)
  t.strictSame(
    explained.filter(({ text, error }) => /tripwire/.test(text) || error !== null),
    [],
  )
})

t.test('what cannot be estimated does not fail the dry run', async t => {
  const { dryRun, source } = await startEvents(t)
  await source.query('drop table heap')
  const gone = await dryRun('metrics', { table_path: 'heap', metric_type: 'row_count' })
  t.match(gone, {
    status: 'ERROR',
    cost: { whole_table: { rows: null, bytes: null }, message: /is unknown/ },
  })
})
