import t from 'tap'
import { formatName } from '../../../connectors/catalog.ts'
import { ENGINES, startEngines, type Engine } from '../freshness/engines.ts'

const { tenant, place } = await startEngines(t)
const [, mysql] = ENGINES as [Engine, Engine]

t.test('a tinyint(1) takes checks of numbers, and is listed for them', { skip: mysql.absent }, async t => {
  const { source, at } = await place(t, mysql, [
    'create table flags (id int primary key, status tinyint(1), active bit(1))',
    `insert into flags values (1, 0, b'0'), (2, 1, b'1'), (3, 2, b'1'), (4, 4, b'1')`,
  ])
  const path = { table_path: formatName([...at, 'flags']) }
  const rule = { ...path, rule_type: 'RANGE', column_name: 'status', rule_config: { max: 2 } }
  const made = await tenant.ask('POST', `/api/v1/sdk/validity/${source.id}`, rule)
  t.equal(made.status, 201, JSON.stringify(made.body))
  const metric = { ...path, metric_type: 'mean', column_name: 'status' }
  t.match(await tenant.ask('POST', `/api/v1/sdk/metrics/${source.id}`, metric), { status: 201 })
  t.match(
    await tenant.ask('POST', `/api/v1/sdk/validity/${source.id}`, { ...rule, column_name: 'active' }),
    { status: 400, body: { error: { message: /RANGE works on .*; active is bit\(1\)/ } } },
    'a bit holds two values',
  )
  const tried = await tenant.ask('POST', '/api/v1/sdk/validity/dry-run', { asset_id: source.id, ...rule })
  t.match(tried.body.data, { status: 'fail', invalid_count: 1 })
})
