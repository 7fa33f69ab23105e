import t from 'tap'
import { bigqueryDialect } from '../../../connectors/bigquery/dialect.ts'
import { sql } from '../../../connectors/sql.ts'
import { startBigquery } from '../../helpers/bigquery.ts'

const QUICK = { timeoutMs: 20_000 }

t.test('a statement costs what a dry run says, which makes no job', async t => {
  const project = await startBigquery(t)
  await project.execute('create table `tide-pool-1234`.`shop`.`orders` (id int64)')
  const connection = await project.connector.connect(project.settings, project.options)
  t.teardown(() => connection.close())
  const orders = bigqueryDialect.table({ catalog: project.project, schema: 'shop', name: 'orders' })
  const at = project.service.requests.length
  const found = await connection.estimateCost!(sql`select max(id) as m from ${orders}`, QUICK)
  t.strictSame(found, { rows: null, bytes: 10_485_760 })
  const sent = project.service.requests.slice(at).map(({ body }) => body as Record<string, unknown>)
  t.equal(sent.length, 1)
  t.match(sent[0], { dryRun: true, query: /^select max/ })
})

t.test('the limit of a source is sent with every job, where it is the lower one', async t => {
  const limitsOf = async (own: number | undefined, ofSource: number | undefined) => {
    const project = await startBigquery(t)
    await project.execute('create table `tide-pool-1234`.`shop`.`orders` (id int64)')
    const settings = { ...project.settings, ...(own !== undefined && { maximum_bytes_billed: own }) }
    const connection = await project.connector.connect(settings, {
      ...project.options,
      ...(ofSource !== undefined && { maxBytesPerStatement: ofSource }),
    })
    t.teardown(() => connection.close())
    await connection.introspect()
    await connection.query(sql`select 1 as one`, QUICK)
    const bodies = project.service.requests.flatMap(({ body }) =>
      typeof body === 'object' && body !== null && 'query' in body ? [body as Record<string, unknown>] : [],
    )
    t.ok(bodies.length > 1)
    return [...new Set(bodies.map(({ maximumBytesBilled: limit }) => limit))]
  }
  t.strictSame(await limitsOf(undefined, undefined), [undefined])
  t.strictSame(await limitsOf(undefined, 20_000_000), ['20000000'])
  t.strictSame(await limitsOf(30_000_000, 20_000_000), ['20000000'])
  t.strictSame(await limitsOf(20_000_000, 30_000_000), ['20000000'])
})
