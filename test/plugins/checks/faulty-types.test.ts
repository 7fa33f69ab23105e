import t from 'tap'
import { makeFaultyWorld } from '../../helpers/faulty-world.ts'
import { discover } from '../../helpers/world.ts'

const { app, tenant, addSource, logged, faults, hang, mend } = await makeFaultyWorld(t)

const WORDS = 'words of the extension'
const throws = () => {
  throw new Error(WORDS)
}
const THREW = 'it threw an error; the log has more'

const { asset } = await addSource()
await discover({ app, tenant, asset })
const metrics = `/api/v1/sdk/metrics/${asset.id}`
const body = { metric_type: 'badmetric', table_path: 'orders' }
const metric = await tenant.ask('POST', metrics, body)
const rule = await tenant.ask('POST', `/api/v1/sdk/validity/${asset.id}`, {
  ...{ rule_type: 'BAD_RULE', table_path: 'orders' },
})
const capture = async () => (await tenant.ask('POST', `${metrics}/${metric.body.data.id}/capture`)).body.data
const check = async () =>
  (await tenant.ask('POST', `/api/v1/sdk/validity/${asset.id}/${rule.body.data.id}/check`)).body.data

t.test('a check type that throws fails its check, and its words are in the log alone', async t => {
  for (const name of ['measures', 'readMeasures', 'validateConfig']) {
    faults[name] = throws
    logged()
    const error_message = `badmetric failed: ${THREW}`
    t.match(await capture(), { snapshots: [{ status: 'ERROR', error_message }] }, name)
    t.match(logged(), new RegExp(`"call":"${name}","extension":"check type badmetric".*${WORDS}`))
    mend()
  }
  faults.validateConfig = throws
  t.match(await tenant.ask('POST', metrics, { ...body, column_name: 'total' }), {
    status: 400,
    body: { error: { message: new RegExp(THREW) } },
  })
})

t.test('a check type that never says whether a config is valid is given up', async t => {
  faults.validateConfig = hang
  Object.assign(app.server.deadlines, { validate: 50 })
  t.match(await capture(), { snapshots: [{ status: 'ERROR', error_message: `badmetric failed: ${THREW}` }] })
})

t.test('a check type that returns what it may not fails its check, and never passes', async t => {
  for (const [name, answer, said] of [
    ['measures', undefined, 'measures must be an object of measures by their names'],
    ['measures', { rows: 'count(*)' }, /measures.rows must give SQL/],
    ['readMeasures', '7', 'readMeasures must give a number or null'],
    ['validateConfig', 7, 'validateConfig must give a sentence or null'],
  ] as const) {
    faults[name] = () => answer
    const error_message = said instanceof RegExp ? said : `badmetric failed: ${said}`
    t.match(await capture(), { snapshots: [{ status: 'ERROR', error_message }] })
    mend()
  }
  for (const answer of [undefined, {}, { total: 3, invalid: null }, { total: 3, invalid: NaN }]) {
    faults.readCounts = () => answer
    const error_message = 'BAD_RULE failed: readMeasures must give total and invalid as numbers, not below 0'
    t.match(await check(), { status: 'error', error_message })
  }
})

t.test('samples and warnings that fail leave the counts as they are', async t => {
  t.match(await check(), { status: 'fail', invalid_count: 3 })
  for (const fault of [throws, () => undefined, () => ({ where: '1 = 1' })]) {
    faults.samples = fault
    t.match(await check(), { status: 'fail', invalid_count: 3, invalid_samples: { samples: [] } })
  }
  for (const fault of [throws, () => 'a text', () => Promise.reject(new Error('late'))]) {
    faults.configWarnings = fault
    t.match(await capture(), { snapshots: [{ value: 3 }] })
  }
})
