/** Default windows of tables in monitors files, and checks of files that take them. */
import t from 'tap'
import { monitorsOf, startMonitors } from './stages.ts'

const { signUp, query, shop } = await startMonitors(t)

const WINDOW = { time_column: 'updated_at', window: '1d', window_delay: '2h' }
const RULE = { key: 'status', rule_type: 'NOT_NULL', column_name: 'status' }

async function start(t: Parameters<typeof shop>[0], company: string) {
  const tenant = await signUp(company)
  const { ids, name } = await shop(t, [tenant])
  const file = (table: object) => ({ version: 1, source: name, tables: { 'public.orders': table } })
  return {
    tenant,
    file,
    monitors: monitorsOf(tenant, ids[0]!),
    setting: async () =>
      (
        await query(`select id, window_setting from tables where source_id = $1 and name = 'orders'`, [
          ids[0],
        ])
      )[0]!,
    checks: () =>
      query(
        'select id, time_column, window_size, window_delay from checks where source_id = $1 order by id',
        [ids[0]],
      ),
  }
}

t.test('a file states the default window of a table, and its checks take it', async t => {
  const { monitors, file, setting, checks } = await start(t, 'States')
  const content = file({ default_window: WINDOW, checks: { validity: [RULE] } })
  const planned = await monitors.plan(content)
  t.match(planned.body.data, {
    create: 1,
    default_windows: [{ table_path: 'public.orders', file: 'monitors/shop.yaml', old: null, new: WINDOW }],
  })
  t.equal((await setting()).window_setting, null, 'a plan writes nothing')
  t.match((await monitors.apply(content)).body.data, { create: 1 })
  t.same((await setting()).window_setting, WINDOW)
  t.match(await checks(), [{ time_column: 'updated_at', window_size: '1d', window_delay: '2h' }])
  t.match((await monitors.apply(content)).body.data, {
    unchanged: 1,
    create: 0,
    replace: 0,
    drift: [],
    default_windows: [],
  })

  const exported = await monitors.export()
  t.match(exported.tables, {
    [Object.keys(exported.tables)[0]!]: {
      default_window: WINDOW,
      checks: { validity: [{ key: 'status', window: '1d' }] },
    },
  })
  t.match((await monitors.apply(exported)).body.data, {
    unchanged: 1,
    create: 0,
    replace: 0,
    default_windows: [],
  })
  const removed = file({ default_window: null, checks: { validity: [{ ...RULE, ...WINDOW }] } })
  t.match((await monitors.apply(removed)).body.data, {
    unchanged: 1,
    default_windows: [{ old: WINDOW, new: null }],
  })
  t.equal((await setting()).window_setting, null)
})

t.test('a check that is there keeps its window, whatever becomes of the default', async t => {
  const { tenant, monitors, file, setting, checks } = await start(t, 'Keeps')
  const content = file({ checks: { validity: [RULE] } })
  await monitors.apply(content)
  const before = await checks()
  t.match(before, [{ window_size: null }])
  const { id } = await setting()
  for (const default_window of [WINDOW, { ...WINDOW, window: '6h' }]) {
    await tenant.ask('PATCH', `/api/v1/sdk/assets/${String(id)}`, { default_window })
    t.match((await monitors.apply(content)).body.data, {
      unchanged: 1,
      replace: 0,
      drift: [],
      default_windows: [],
    })
    t.same(await checks(), before)
  }
  const more = file({ checks: { validity: [RULE, { ...RULE, key: 'total', column_name: 'total' }] } })
  t.match((await monitors.apply(more)).body.data, { unchanged: 1, create: 1 })
  t.match(await checks(), [{ window_size: null }, { window_size: '6h' }], 'a new one takes it')
  await tenant.ask('PATCH', `/api/v1/sdk/assets/${String(id)}`, { default_window: WINDOW })
  t.match((await monitors.apply(more)).body.data, { unchanged: 2, replace: 0 })

  const exported = await monitors.export()
  const [table] = Object.values(exported.tables)
  t.match(table?.checks.validity, [
    { key: 'status', window: null },
    { key: 'total', window: '6h' },
  ])
  t.match((await monitors.apply(exported)).body.data, { unchanged: 2, replace: 0 })
  const other = file({ checks: { validity: [{ ...RULE, window: '1d', time_column: 'updated_at' }] } })
  t.match(
    (await monitors.plan(other)).body.data,
    { replace: 1 },
    'one that states another window is another check',
  )
})

t.test('a default window that does not fit is a fault of its file', async t => {
  const { monitors, file } = await start(t, 'Refuses')
  for (const [default_window, message] of [
    [{ time_column: 'gone', window: '1d' }, /does not exist/],
    [{ time_column: 'status', window: '1d' }, /dates or timestamps/],
    [{ time_column: 'updated_at', window: '5h' }, /hours that divide a day/],
    [{ window: '1d' }, /time_column/],
    ['1d', /default_window/],
  ] as const) {
    const refused = await monitors.plan(file({ default_window, checks: {} }))
    t.equal(refused.status, 400)
    t.match(JSON.stringify(refused.body), message)
  }
})
