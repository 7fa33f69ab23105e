/** Which window a new check has: the one of its body, else the default window of its table. */
import t from 'tap'
import { discover, makeStage } from '../../../helpers/world.ts'
import { startShop } from './shop.ts'

const stage = await makeStage(t)

const SET = { time_column: 'placed', window: '6h', window_delay: '2h' }
const WHOLE = { time_column: null, window: null, window_delay: null, revisit: null }

async function shop(t: Parameters<typeof startShop>[0], isSet = true) {
  const started = await startShop(t, stage, 'placed timestamp, day date')
  const { app, asset, tenant } = started
  const [table] = await app.query('select id from tables where source_id = $1', [asset.id])
  const path = `/api/v1/sdk/assets/${String(table?.id)}`
  const setWindow = (window: object | null) => tenant.ask('PATCH', path, { default_window: window })
  if (isSet) await setWindow(SET)
  return { ...started, setWindow, tableId: String(table?.id) }
}

const RULE = { rule_type: 'NOT_NULL', column_name: 'total' }

t.test(
  'a body that names neither window nor column takes that of the table, and the reply shows it',
  async t => {
    const { make, ask, app, asset } = await shop(t)
    t.match(await make('validity', RULE), { ...SET, revisit: null })
    t.match(await make('validity', { ...RULE, revisit: 3, window_delay: '1h' }), {
      ...SET,
      window_delay: '1h',
      revisit: 3,
    })
    t.match(await make('metrics', { metric_type: 'row_count' }), SET)
    const dry = await ask('POST', 'validity/dry-run', { ...RULE, asset_id: 'shop', table_path: 'orders' })
    t.match(dry.body.data.sql[0].text, /"placed" >= /, 'a dry run measures what would be made')
    const bulk = await ask('POST', 'validity/{asset}/bulk', {
      rule_type: 'NOT_NULL',
      table_path: 'orders',
      column_names: ['day', 'placed'],
    })
    t.match(bulk.body.data, { created: 2 })
    const stored = await app.query('select distinct window_size from checks where source_id = $1', [asset.id])
    t.same(stored, [{ window_size: '6h' }], 'those of a request for several columns, too')
  },
)

t.test('null is all rows, and a window of its own is its own', async t => {
  const { make, setWindow } = await shop(t)
  t.match(await make('validity', { ...RULE, window: null }), WHOLE)
  t.match(await make('validity', { ...RULE, time_column: null }), WHOLE)
  t.match(await make('validity', { ...RULE, time_column: 'day', window: '1d' }), {
    time_column: 'day',
    window: '1d',
    window_delay: null,
  })
  const before = await make('metrics', { metric_type: 'row_count' })
  await setWindow(null)
  t.match(
    await make('metrics', { metric_type: 'row_count' }),
    WHOLE,
    'without a setting it is as it always was',
  )
  t.match(before, SET)
})

t.test('a SELECT, which names its rows itself, takes none', async t => {
  const { make } = await shop(t)
  const select = {
    rule_type: 'CUSTOM_SQL',
    rule_config: { sql_expression: 'select * from orders where total < 0' },
  }
  t.match(await make('validity', select), WHOLE)
})

t.test('a default window whose column is gone refuses what would take it', async t => {
  const { ask, source, app, tenant, asset } = await shop(t)
  await source.query('alter table orders drop column placed')
  await discover({ app, tenant, asset })
  const refused = await ask('POST', 'validity/{asset}', { table_path: 'orders', ...RULE })
  t.equal(refused.status, 400)
  t.match(JSON.stringify(refused.body), /time_column/)
})

t.test('watching and recommendations take it, and make no second check after it changed', async t => {
  const { ask, app, asset, setWindow } = await shop(t)
  const watch = () => ask('POST', 'assets/{asset}/watch', { row_count: true, freshness: false, keys: true })
  t.match((await watch()).body.data, {
    row_count: { created: 1 },
    not_null: { created: 1 },
    unique: { created: 1 },
  })
  const stored = () =>
    app.query(
      'select type, time_column, window_size, window_delay from checks where source_id = $1 order by type',
      [asset.id],
    )
  const expected = ['NOT_NULL', 'UNIQUE', 'row_count'].map(type => ({
    type,
    time_column: 'placed',
    window_size: '6h',
    window_delay: '2h',
  }))
  t.same(await stored(), expected)
  await setWindow({ time_column: 'day', window: '1d' })
  t.match((await watch()).body.data, { row_count: { created: 0, existing: 1 } })
  t.same(await stored(), expected)
})

t.test('tables from 10 million rows on are watched by their partitions, where nothing is set', async t => {
  const { ask, app, asset, tableId } = await shop(t, false)
  const partitioning = { columns: [{ name: 'day', method: 'range' }], clustering: [] }
  await app.query('update tables set partitioning = $2, estimated_rows = 10000000 where id = $1', [
    tableId,
    partitioning,
  ])
  await ask('POST', 'assets/{asset}/watch', { row_count: true, freshness: false, keys: false })
  const stored = await app.query('select time_column, window_size from checks where source_id = $1', [
    asset.id,
  ])
  t.same(stored, [{ time_column: 'day', window_size: '1d' }])
  const made = await ask('POST', 'validity/{asset}', { table_path: 'orders', ...RULE })
  t.match(made.body.data, WHOLE, 'what a person makes is of all rows, unless it is said')
})

t.test('a table that is read only with a condition on its partitions', async t => {
  const { ask, app, tableId, make, run } = await shop(t, false)
  const rule = await make('validity', RULE)
  const partitioning = { columns: [{ name: 'day', method: 'time' }], clustering: [], requiresFilter: true }
  await app.query('update tables set partitioning = $2 where id = $1', [tableId, partitioning])
  const refused = await ask('POST', 'validity/{asset}', { table_path: 'orders', ...RULE })
  t.equal(refused.status, 400)
  t.match(
    JSON.stringify(refused.body),
    /public\.orders is read only with a condition on day: give time_column day and a window, such as 1d\./,
  )
  const elsewhere = await ask('POST', 'metrics/{asset}', {
    table_path: 'orders',
    metric_type: 'row_count',
    time_column: 'placed',
    window: '1d',
  })
  t.equal(elsewhere.status, 400, 'a window on another column is no condition on the partitions')
  t.match(await make('validity', { ...RULE, time_column: 'day', window: '1d' }), { window: '1d' })

  await run(new Date())
  const shown = await ask('GET', `validity/{asset}/${rule.id}`)
  t.match(shown.body.data, { latest_status: 'error' }, 'one that was made before is an error')
  t.match(
    JSON.stringify(
      (await app.query('select error_message from check_results where status = $1', ['error']))[0],
    ),
    'is read only with a condition on day',
  )
})
