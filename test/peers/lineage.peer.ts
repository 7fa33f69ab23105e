/**
 * Sends lineage to a running service as its producers do: the Python and Java clients of OpenLineage, dbt with the wrapper
 * of OpenLineage, and dbt's own artifacts with `tidemark lineage dbt`.
 *
 *     node test/run.ts --timeout=1500 test/peers/lineage.peer.ts
 *
 * It needs Python 3 and a package index; Java, Maven and its central repository for the Java client. With
 * OPENLINEAGE_EXAMPLES, a folder of example events as JSON files, it sends these too; with DBT_ARTIFACTS, a folder of
 * folders such as public projects publish, their manifest.json and catalog.json.
 */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import t from 'tap'
import { command } from '../helpers/command.ts'
import { startServer } from '../helpers/server.ts'
import { startStockPostgres } from '../helpers/stock-postgres.ts'
import { discover } from '../helpers/world.ts'
import { DBT_PACKAGES, DBT_REPLACED, projectFiles } from './imports/dbt.ts'
import { pythonWith } from './python.ts'

const run = promisify(execFile)
const OPENLINEAGE_PACKAGES = ['openlineage-python==1.54.0', 'openlineage-dbt==1.54.0']
const JAVA_CLIENT = 'io.openlineage:openlineage-java:1.54.0'

const cluster = await startStockPostgres()
const { host, port, user, password } = cluster
const owner = new pg.Client({ ...cluster, database: 'postgres' })
await owner.connect()
t.teardown(() => owner.end())
await owner.query('create table raw_orders (id int, customer_id int, amount int)')
await owner.query('insert into raw_orders values (1, 1, 5), (2, null, 7)')

const app = await startServer(t, { settings: { DEFAULT_PLAN: 'enterprise' } })
const tenant = await app.signUp()
const made = await tenant.ask('POST', '/api/v1/sdk/assets', {
  ...{ name: 'shop', source_type: 'postgresql' },
  connection_config: { host, port, username: user, password, database: 'postgres', sslmode: 'prefer' },
})
const asset = made.body.data as { id: string }
const NAMESPACE = `postgres://${host}:${port}`
const environment = { ...process.env, URL: app.server.info.uri, KEY: tenant.key }

async function graphOf(table: string): Promise<Record<string, unknown>[]> {
  const path = `/api/v1/sdk/lineage/shop.postgres.public.${table}?columns=true`
  const { status, body } = await tenant.ask('GET', path)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.data.edges as Record<string, unknown>[]
}

const python = await pythonWith([...DBT_PACKAGES, ...OPENLINEAGE_PACKAGES], DBT_REPLACED)

t.test('dbt sends its runs, and its artifacts mean the same', async t => {
  const home = await mkdtemp(join(tmpdir(), 'dbt-'))
  t.teardown(() => rm(home, { recursive: true, force: true }))
  await mkdir(join(home, 'models'))
  const project = projectFiles(cluster, 'postgres')
  const files = {
    'dbt_project.yml': JSON.stringify(project['dbt_project.yml']),
    'profiles.yml': JSON.stringify(project['profiles.yml']),
    'models/stg_orders.sql': `select id, customer_id, amount from {{ source('raw', 'raw_orders') }}`,
    'models/orders.sql': `{{ config(materialized='table') }} select id, customer_id from {{ ref('stg_orders') }}`,
    'models/gone.sql': `{{ config(enabled=false) }} select 1`,
    'models/schema.yml': JSON.stringify({
      version: 2,
      sources: [{ name: 'raw', schema: 'public', tables: [{ name: 'raw_orders' }] }],
      models: [
        { name: 'stg_orders', columns: [{ name: 'id', tests: ['unique'] }] },
        {
          name: 'orders',
          config: { meta: { owner: 'ann@example.com' } },
          columns: [{ name: 'customer_id', tests: ['not_null'] }],
        },
      ],
      exposures: [
        {
          ...{
            name: 'board',
            type: 'dashboard',
            url: 'https://bi.example.com/1',
            depends_on: ["ref('orders')"],
          },
          owner: { name: 'Bob', email: 'bob@example.com' },
        },
      ],
    }),
  }
  for (const [name, content] of Object.entries(files)) await writeFile(join(home, name), content)
  const env = {
    ...{ PATH: `${dirname(python)}:${process.env.PATH}`, HOME: home, DBT_PROFILES_DIR: home },
    ...{ DBT_SEND_ANONYMOUS_USAGE_STATS: 'false', DO_NOT_TRACK: '1' },
    ...{ OPENLINEAGE_URL: environment.URL, OPENLINEAGE_API_KEY: tenant.key, OPENLINEAGE_NAMESPACE: 'dbt' },
  }
  // A test fails, and so does dbt.
  const ran = await run(join(dirname(python), 'dbt-ol'), ['build'], { cwd: home, env }).catch(
    (error: object) => error,
  )
  const { stdout, stderr } = ran as { stdout: string; stderr: string }
  t.match(stdout + stderr, /Emitted \d+ OpenLineage events/i)
  await run(join(dirname(python), 'dbt'), ['run', '--target-path', 'other'], { cwd: home, env })
  await discover({ app, tenant, asset })
  const ends = (edges: Record<string, unknown>[]) =>
    edges.map(({ source, target }) => `${source} > ${target}`).sort()
  const sent = ends(await graphOf('orders'))
  t.ok(sent.includes('shop.postgres.public.stg_orders > shop.postgres.public.orders'), sent.join(', '))
  t.ok(sent.includes('shop.postgres.public.raw_orders > shop.postgres.public.stg_orders'), sent.join(', '))
  const settings = { TIDEMARK_URL: environment.URL, TIDEMARK_API_KEY: tenant.key }
  const printed = await command(
    ['lineage', 'dbt', join(home, 'target'), '--source', 'shop', '--json'],
    settings,
  )
  t.equal(printed.code, 0, printed.err)
  t.match(JSON.parse(printed.out), {
    tables: 3,
    unmatched_count: 0,
    edges: 3,
    exposures: 1,
    tests: 2,
    failing_tests: 1,
  })
  t.ok(ends(await graphOf('orders')).some(edge => edge.endsWith('board')))
  const origins = (await graphOf('orders')).map(edge => JSON.stringify(edge.origins))
  t.ok(
    origins.some(text => text.includes('dbt') && text.includes('openlineage')),
    'both report the same edge',
  )
  const pairsBy = async (origin: string) => {
    const found = await app.query(
      `select c.upstream_column || ' > ' || c.downstream_column as pair from lineage_column_edges c
         join tables t on t.id = c.downstream_id
        where c.origin = $1 and c.kind = 'direct' and t.name = 'orders' order by 1`,
      [origin],
    )
    return found.map(({ pair }) => pair)
  }
  t.strictSame(await pairsBy('dbt'), [], 'no column is known without catalog.json')
  await run(join(dirname(python), 'dbt'), ['docs', 'generate'], { cwd: home, env })
  t.equal((await command(['lineage', 'dbt', join(home, 'target'), '--source', 'shop'], settings)).code, 0)
  t.strictSame(await pairsBy('dbt'), ['customer_id > customer_id', 'id > id'])
  t.strictSame(await pairsBy('dbt'), await pairsBy('openlineage'), 'OpenLineage finds the same')
  const alerts = await app.query(`select title from alerts where kind = 'external_check_failed'`)
  t.match(alerts, [{ title: /not_null_orders_customer_id fails/ }])
})

t.test('the Python client is understood', async t => {
  const script = join(import.meta.dirname, 'lineage/send_events.py')
  await owner.query('create table if not exists python_sink (id int)')
  await discover({ app, tenant, asset })
  await run(python, [script, NAMESPACE, 'postgres.public.raw_orders', 'postgres.public.python_sink'], {
    env: environment,
  })
  t.match(
    (await graphOf('python_sink')).filter(({ target }) => String(target).endsWith('python_sink')),
    [{ columns: [{ upstream_column: 'id', downstream_column: 'id' }] }],
  )
  const { body } = await tenant.ask(
    'GET',
    '/api/v1/sdk/lineage/runs?asset_id=shop.postgres.public.python_sink',
  )
  t.match(body.data.runs, [{ job_name: 'python.run', state: 'failed', error_message: 'no space left' }])
  const raw = await graphOf('raw_orders')
  t.ok(
    raw.some(({ target }) => String(target).includes('exports/orders')),
    'the job event has its edge',
  )
})

t.test('the Java client is understood', async t => {
  const folder = join(import.meta.dirname, '../../node_modules/.cache/peers/openlineage-java')
  await mkdir(folder, { recursive: true })
  const [group, artifact, version] = JAVA_CLIENT.split(':')
  await writeFile(
    join(folder, 'pom.xml'),
    `<project><modelVersion>4.0.0</modelVersion><groupId>peer</groupId><artifactId>peer</artifactId><version>1</version>
     <dependencies><dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version>
     </dependency></dependencies></project>`,
  )
  const goals = ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=jars']
  const fetched = await run('mvn', goals, { cwd: folder }).catch((error: Error) => error)
  if (fetched instanceof Error)
    return t.plan(0, `Maven and its central repository are needed: ${fetched.message}`)
  await owner.query('create table if not exists java_sink (id int)')
  await discover({ app, tenant, asset })
  const source = join(import.meta.dirname, 'lineage/SendEvents.java')
  const names = ['postgres.public.raw_orders', 'postgres.public.java_sink']
  await run('java', ['-cp', join(folder, 'jars/*'), source, NAMESPACE, ...names], { env: environment })
  t.match(await graphOf('java_sink'), [{ target: 'shop.postgres.public.java_sink' }])
  const { body } = await tenant.ask('GET', '/api/v1/sdk/lineage/runs?asset_id=shop.postgres.public.java_sink')
  t.match(body.data.runs, [{ job_name: 'java.run', state: 'completed' }])
})

const examples = process.env.OPENLINEAGE_EXAMPLES
t.test(
  'published example events are taken',
  { skip: examples ? false : 'OPENLINEAGE_EXAMPLES names no folder' },
  async t => {
    let count = 0
    for (const file of globSync(join(examples ?? '', '**/*.json'))) {
      for (const event of readEvents(file)) {
        if (typeof event !== 'object' || event === null || !('job' in event)) continue
        const reply = await app.ask('POST', '/api/v1/lineage', completeTemplate(event), tenant.key)
        count++
        if (reply.status !== 201) t.fail(`${file}: ${JSON.stringify(reply.body)}`)
      }
    }
    t.ok(count > 0, `${count} events`)
  },
)

const artifacts = process.env.DBT_ARTIFACTS
t.test(
  'artifacts of public projects are taken, with the columns of all models whose SQL they have',
  { skip: artifacts ? false : 'DBT_ARTIFACTS names no folder' },
  async t => {
    const folders = globSync(join(artifacts ?? '', '*/manifest.json')).map(file => dirname(file))
    t.ok(folders.length > 0)
    for (const folder of folders) {
      const { nodes, metadata } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as {
        nodes: Record<string, { compiled_code?: string }>
        metadata: { adapter_type: string }
      }
      const printed = await command(['lineage', 'dbt', folder, '--source', 'shop', '--json'], {
        TIDEMARK_URL: environment.URL,
        TIDEMARK_API_KEY: tenant.key,
      })
      t.equal(printed.code, 0, printed.err)
      const { edges, columns } = JSON.parse(printed.out) as Record<'edges' | 'columns', number>
      const models = Object.entries(nodes).filter(([id]) => id.startsWith('model.'))
      const isCompiled = models.every(([, { compiled_code: code }]) => code)
      t.ok(
        edges > 0,
        `${basename(folder)}: ${models.length} models, ${edges} edges, ${columns} pairs of columns`,
      )
      if (metadata.adapter_type === 'postgres' && isCompiled) t.ok(columns > edges)
    }
  },
)

/** The events of a file; none of one that is no JSON, as templates are, which have a loop around the events. */
function readEvents(file: string): Record<string, unknown>[] {
  try {
    return [JSON.parse(readFileSync(file, 'utf8')) as unknown].flat() as Record<string, unknown>[]
  } catch {
    return []
  }
}

/** Many examples are expectations of the producers' own tests, with templates in place of values. */
function completeTemplate(event: Record<string, unknown>): object {
  const {
    job,
    run: ran,
    inputs = [],
    outputs = [],
    ...rest
  } = JSON.parse(JSON.stringify(event).replaceAll(/\{\{.*?\}\}/g, 'any')) as {
    job: object
    run?: { runId?: string }
    inputs?: object[]
    outputs?: object[]
    eventTime?: string
    eventType?: string
  }
  const isRun = ran !== undefined || rest.eventType !== undefined
  const runId = /^[0-9a-f-]{36}$/.test(ran?.runId ?? '') ? ran?.runId : randomUUID()
  return {
    ...rest,
    eventTime: Number.isNaN(Date.parse(rest.eventTime ?? '')) ? new Date().toISOString() : rest.eventTime,
    job: { namespace: 'any', name: 'any', ...job },
    inputs: inputs.map(dataset => ({ namespace: 'any', name: 'any', ...dataset })),
    outputs: outputs.map(dataset => ({ namespace: 'any', name: 'any', ...dataset })),
    ...(isRun && { run: { ...ran, runId } }),
  }
}
