import t from 'tap'
import { DEFAULT_DEADLINES } from '../../../../server/deadlines.ts'
import { classifyError, ConnectorError, errorRule } from '../../../../connectors/errors.ts'
import { makeFaultyWorld } from '../../../helpers/faulty-world.ts'
import { discover } from '../../../helpers/world.ts'

const { app, tenant, addSource, logged, faults, hang, mend } = await makeFaultyWorld(t)

const SECRET = 'tok-very-secret-4711'
const THREW = 'The connector badengine threw an error; the log has more'

const source = await addSource({ api_token: SECRET })
const base = `/api/v1/sdk/assets/${source.asset.id}`
const record = async () => (await tenant.ask('GET', base)).body.data
const preview = async () => (await tenant.ask('POST', `${base}/preview-tables`, {})).body.data
const test = async () => (await tenant.ask('POST', `${base}/test-connection`)).body.data

await discover(source)
const metric = await tenant.ask('POST', `/api/v1/sdk/metrics/${source.asset.id}`, {
  metric_type: 'row_count',
  table_path: 'orders',
})
const capture = async () =>
  (await tenant.ask('POST', `/api/v1/sdk/metrics/${source.asset.id}/${metric.body.data.id}/capture`)).body
    .data

/** A table as it must be, with changes. */
const table = (changes: object = {}, column: object = {}) => ({
  ...{ catalog: 'main', schema: 'main', name: 'orders', kind: 'table', comment: null, constraints: [] },
  columns: [
    {
      ...{ name: 'id', ordinal: 1, type: 'integer', rawType: 'INTEGER', kind: 'integer', nullable: false },
      ...{ default: null, comment: null, ...column },
    },
  ],
  ...changes,
})

t.test('a discovery ends with a sentence that names the connector, whatever its session does', async t => {
  const throws = () => {
    throw new TypeError(`x is not a function of ${SECRET}`)
  }
  for (const name of ['connect', 'introspect']) {
    for (const fault of [throws, () => Promise.reject(new TypeError(`token=${SECRET}`))]) {
      faults[name] = fault
      logged()
      t.match(await discover(source), { status: 'failed', error: { code: 'other', message: THREW } }, name)
      const log = logged()
      t.match(log, /"extension":"connector badengine"/)
      t.match(log, /TypeError/)
      t.match(log, /faulty|connector-calls\.test/, 'with the stack')
      t.notMatch(log, SECRET)
    }
    mend()
  }
  t.match(await record(), { connection_status: 'failed', connection_message: THREW })
})

t.test('a call that never ends is given up, and the engine is named', async t => {
  const ended = (call: string) => ({
    status: 'failed',
    error: { code: 'timeout', message: new RegExp(`^The connector badengine did not end ${call} within`) },
  })
  Object.assign(app.server.deadlines, { connect: 50 })
  faults.connect = hang
  t.match(await discover(source), ended('connect'))
  mend()
  Object.assign(app.server.deadlines, { ...DEFAULT_DEADLINES, introspect: 50 })
  faults.introspect = hang
  t.match(await discover(source), ended('introspect'))
  mend()
  Object.assign(app.server.deadlines, { ...DEFAULT_DEADLINES, connect: 50, grace: 50 })
})

t.test('a statement that never ends is given up soon after its timeout, and its session with it', async t => {
  Object.assign(app.server.deadlines, { grace: 50 })
  let closed = 0
  let aborted = 0
  faults.query = ((_: unknown, { signal }: { signal: AbortSignal }) => {
    signal.addEventListener('abort', () => void aborted++)
    return hang()
  }) as never
  faults.close = () => {
    closed += 1
    return hang()
  }
  const message = /^The connector badengine did not end query within 1.05 s/
  t.match(await capture(), { snapshots: [{ status: 'ERROR', error_message: message }] })
  t.same([aborted, closed], [1, 1])
})

t.test('what a statement throws is an error of its checks in words of ours', async t => {
  faults.query = () => Promise.reject(new Error(`GET https://x/?key=${SECRET}`))
  t.match(await capture(), { snapshots: [{ status: 'ERROR', error_message: THREW }] })
  t.notMatch(logged(), SECRET)
  faults.query = () => {
    throw new ConnectorError({ kind: 'nonsense' as 'other', engine: 'badengine', message: `no ${SECRET}` })
  }
  const found = await capture()
  t.match(found, { snapshots: [{ status: 'ERROR' }] })
  t.notMatch(JSON.stringify(found), SECRET)
})

t.test('rows that are no rows are refused', async t => {
  for (const [answer, said] of [
    ['text', 'an array of rows is required'],
    [[null], 'rows[0] must be an object by column'],
    [[[1]], 'rows[0] must be an object by column'],
    [[{ m0: 3n }], 'rows[0].m0 must not be a bigint: give integers beyond 2^53 as strings'],
  ] as const) {
    faults.query = async () => answer
    const message = `The connector badengine returned a wrong answer to query: ${said}`
    t.match(await capture(), { snapshots: [{ status: 'ERROR', error_message: message }] })
  }
})

t.test('tables that are not as the interface says are not stored, and the wrong field is named', async t => {
  const before = await app.query('select md5(string_agg(columns::text, null)) as sum from tables')
  for (const [answer, said] of [
    [{}, 'an array of tables is required'],
    [[7], 'table 0: must be an object'],
    [[table({ name: 7 })], 'table 0: name must be a string of at most 1024 characters'],
    [[table({ name: 'x'.repeat(1_025) })], 'table 0: name must be a string of at most 1024 characters'],
    [[table({ kind: 'tables' })], 'table main.main.orders: kind must be one of table, view, .*'],
    [
      [table({}, { name: 7, ordinal: 'x' })],
      String.raw`table main.main.orders: columns\[0\].name must be a string .*`,
    ],
    [
      [table({}, { ordinal: 1.5 })],
      String.raw`table main.main.orders: columns\[0\].ordinal must be an integer`,
    ],
    [[table({}, { type: null })], String.raw`table main.main.orders: columns\[0\].type must be a string`],
    [
      [table({}, { kind: 'number' })],
      String.raw`table main.main.orders: columns\[0\].kind must be one of .*`,
    ],
    [
      [table({ constraints: [{ name: 'k', type: 'key', columns: [] }] })],
      /constraints\[0\].type must be one of/,
    ],
    [[table(), table()], 'table main.main.orders: it is listed twice'],
    [
      [table({ columns: [...table().columns, ...table().columns] })],
      /columns\[1\].name is that of another column/,
    ],
  ] as const) {
    faults.introspect = async () => answer
    const message =
      said instanceof RegExp
        ? said
        : new RegExp(`^The connector badengine returned a wrong answer to introspect: ${said}$`)
    t.match(await preview(), { error_code: 'other', error_message: message })
  }
  t.match(await discover(source), { status: 'failed', error: { message: /is that of another column/ } })
  t.same(await app.query('select md5(string_agg(columns::text, null)) as sum from tables'), before)
  // SQLite has them.
  faults.introspect = async () => [table(), table({ name: '' }, { name: '' })]
  t.match(await discover(source), { status: 'completed' }, 'names may be empty')
  mend()
  t.match(await discover(source), { status: 'completed' })
  t.match(await record(), { connection_status: 'connected' })
})

t.test('a connection test passes only with all its stages', async t => {
  const stage = (name: string, status = 'passed') => ({ name, status, latencyMs: 1, message: 'Done.' })
  const all = ['reach', 'tls', 'sign_in', 'read_catalog'].map(name => stage(name))
  t.match(await test(), { success: true })
  for (const [answer, said] of [
    [[], 'the stage reach is missing'],
    [undefined, 'an array of stages is required'],
    [all.slice(0, 3), 'the stage read_catalog is missing'],
    [
      all.map(each => ({ ...each, status: 'skipped' })),
      'the stage read_catalog must have passed where none has failed',
    ],
    [[...all.slice(0, 3), stage('read_catalog', 'ok')], '[3].status must be one of passed, failed, skipped'],
  ] as const) {
    faults.test = async () => answer
    const message = `The connector badengine returned a wrong answer to test: ${said}`
    const stages = [{ name: 'reach', status: 'failed', message }, ...Array(3).fill({ status: 'skipped' })]
    t.match(await test(), { success: false, error_code: 'other', error_message: message, stages })
  }
  faults.test = () => {
    throw new Error(`no ${SECRET}`)
  }
  t.match(await test(), { success: false, error_code: 'other', error_message: THREW })
  faults.test = hang
  Object.assign(app.server.deadlines, { test: 50 })
  t.match(await test(), {
    success: false,
    error_code: 'timeout',
    error_message: /did not end test within 0.05 s/,
  })
  t.match(await record(), { connection_status: 'failed' })
})

t.test('a dialect that throws costs its scan alone', async t => {
  const made = await tenant.ask('POST', `/api/v1/sdk/validity/${source.asset.id}`, {
    rule_type: 'NOT_NULL',
    table_path: 'orders',
    column_name: 'total',
  })
  t.equal(made.status, 201)
  faults.countNonNull = () => {
    throw new Error('no dialect')
  }
  const checked = await tenant.ask(
    'POST',
    `/api/v1/sdk/validity/${source.asset.id}/${made.body.data.id}/check`,
  )
  const message = `NOT_NULL failed: ${THREW}`
  t.match(checked.body.data, { status: 'error', error_message: message })
})

t.test('a connector that passes on what the engine says of rows has it taken out', async t => {
  const VALUE = 'ann@example.org'
  for (const error of [
    Object.assign(new Error(`invalid value: "${VALUE}"`), { code: '22P02' }),
    Object.assign(new Error(`no such table: ${VALUE}`), { code: 'SQLITE_ERROR' }),
  ]) {
    faults.query = () =>
      Promise.reject(classifyError('badengine', [errorRule('invalid-query', { message: /./ })], error))
    const captured = await capture()
    t.match(captured, {
      snapshots: [{ status: 'ERROR', error_message: /could not run this SQL over the rows/ }],
    })
    t.notMatch(JSON.stringify(captured), VALUE)
    t.notMatch(logged(), VALUE)
  }
  mend()
})
