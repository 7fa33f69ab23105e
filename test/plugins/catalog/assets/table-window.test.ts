import t from 'tap'
import { postgresqlDialect } from '../../../../connectors/postgresql/dialect.ts'
import type { TableInfo, TablePartitioning } from '../../../../connectors/catalog.ts'
import {
  automaticWindow,
  findTableWindowProblem,
  LARGE_TABLE_ROWS,
  proposeWindow,
} from '../../../../plugins/catalog/assets/table-window.ts'
import { discover, makeWorld } from '../../../helpers/world.ts'

const column = (name: string, kind: 'integer' | 'date' | 'timestamp', ordinal: number) => ({
  name,
  ordinal,
  type: kind,
  rawType: kind,
  kind,
  nullable: false,
  default: null,
  comment: null,
})

const table = (partitioning?: TablePartitioning, estimatedRows?: number): TableInfo => ({
  catalog: 'shop',
  schema: 'public',
  name: 'events',
  kind: 'table',
  comment: null,
  constraints: [],
  columns: [column('id', 'integer', 1), column('day', 'date', 2), column('at', 'timestamp', 3)],
  ...(partitioning && { partitioning }),
  ...(estimatedRows !== undefined && { estimatedRows }),
})

t.test('a window of a day is proposed where partitions or the sort key are of time', async t => {
  const proposed = (partitioning?: TablePartitioning) => {
    const found = proposeWindow(table(partitioning))
    return found && [found.time_column, found.window, found.origin]
  }
  t.equal(proposed(), null)
  t.same(proposed({ columns: [{ name: 'day', method: 'range' }], clustering: [] }), [
    'day',
    '1d',
    'partition',
  ])
  t.same(proposed({ columns: [{ name: 'id' }, { name: 'at' }], clustering: ['day'] }), [
    'at',
    '1d',
    'partition',
  ])
  t.equal(proposed({ columns: [{ name: 'at', method: 'hash' }], clustering: [] }), null, 'hashes of moments')
  t.same(proposed({ columns: [], clustering: ['at', 'id'] }), ['at', '1d', 'clustering'])
  t.equal(proposed({ columns: [], clustering: ['id', 'at'] }), null, 'rows are sorted by the id first')
  t.same(
    proposed({ columns: [{ name: '_PARTITIONTIME', pseudoType: 'timestamp' }], clustering: [] }),
    ['_PARTITIONTIME', '1d', 'partition'],
    'a pseudo column',
  )
})

t.test('automatic checks take the setting, and the proposal only of large tables', async t => {
  const partitioning: TablePartitioning = { columns: [{ name: 'day', method: 'range' }], clustering: [] }
  const setting = { time_column: 'at', window: '6h', window_delay: '1h' }
  t.same(automaticWindow(table(partitioning, 100), setting), setting)
  t.equal(automaticWindow(table(partitioning, LARGE_TABLE_ROWS - 1), null), null)
  t.equal(automaticWindow(table(partitioning), null), null, 'of unknown size')
  const proposal = { time_column: 'day', window: '1d', window_delay: null }
  t.same(automaticWindow(table(partitioning, LARGE_TABLE_ROWS), null), proposal)
  t.equal(automaticWindow(table(undefined, LARGE_TABLE_ROWS), null), null)
  t.same(
    automaticWindow(table({ ...partitioning, requiresFilter: true }, 1), null),
    proposal,
    'and where the engine reads no rows without it',
  )
})

t.test('a window must fit the table', async t => {
  const problem = (time_column: string, window: string) =>
    findTableWindowProblem({ time_column, window, window_delay: null }, table(), postgresqlDialect)
  t.equal(problem('at', '6h'), null)
  t.match(problem('gone', '1d'), { field: 'time_column', error: /does not exist/ })
  t.match(problem('id', '1d'), { field: 'time_column', error: /dates or timestamps/ })
  t.match(problem('day', '6h'), { field: 'window', error: /whole days/ })
  t.match(problem('at', '5h'), { field: 'window', error: /hours that divide a day/ })
})

t.test('the default window of a table is set, shown, proposed and removed', async t => {
  const world = await makeWorld(t, [
    'create table events (id int, at timestamptz not null) partition by range (at)',
    'create table users (id int, born date)',
  ])
  await discover(world)
  const { tenant } = world
  const list = await tenant.ask('GET', '/api/v1/sdk/assets?asset_type=table&sort=name&order=asc')
  const [events, users] = list.body.data.data
  const show = async ({ id }: { id: string }) => {
    const { default_window, proposed_window } = (await tenant.ask('GET', `/api/v1/sdk/assets/${id}`)).body
      .data
    return { default_window, proposed_window }
  }
  const patch = ({ id }: { id: string }, body: object) =>
    tenant.ask('PATCH', `/api/v1/sdk/assets/${id}`, body)
  const proposal = { time_column: 'at', window: '1d', window_delay: null, origin: 'partition' }
  t.same(await show(events), { default_window: null, proposed_window: proposal })
  t.same(await show(users), { default_window: null, proposed_window: null })

  const set = { time_column: 'at', window: '6h', window_delay: '2h' }
  const changed = await patch(events, { default_window: set })
  t.match(changed, { status: 200, body: { data: { default_window: set, proposed_window: null } } })
  await patch(events, { description: 'What happened' })
  t.same(await show(events), { default_window: set, proposed_window: null }, 'other fields leave it')
  await discover(world)
  t.same((await show(events)).default_window, set, 'a discovery leaves it')

  const refusals: [object, string, RegExp][] = [
    [{ time_column: 'gone', window: '1d' }, 'default_window.time_column', /does not exist/],
    [{ time_column: 'id', window: '1d' }, 'default_window.time_column', /dates or timestamps/],
    [{ time_column: 'at', window: '5h' }, 'default_window.window', /hours that divide a day/],
    [{ window: '1d' }, 'default_window.time_column', /required/],
    [{ time_column: 'at', window: null }, 'default_window.window', /must be text, not null/],
  ]
  for (const [default_window, field, message] of refusals) {
    const { status, body } = await patch(events, { default_window })
    t.equal(status, 400, field)
    t.match(JSON.stringify(body), field)
    t.match(JSON.stringify(body), message)
  }
  t.match(await patch(world.asset, { default_window: set }), { status: 400 }, 'a source has none')
  t.match(await patch(events, { is_active: false }), { status: 400 }, 'and a table nothing else')
  t.match((await patch(events, { default_window: null })).body.data, { default_window: null })
  t.same(await show(events), { default_window: null, proposed_window: proposal })

  const audit = await tenant.ask('GET', '/api/v1/audit-log?limit=100')
  t.match(JSON.stringify(audit.body), /table\.updated.*default_window/, 'it is in the audit log')
})
