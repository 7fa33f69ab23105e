/**
 * Holds the verdicts of imported checks to those of the tools they come from: dbt, Great Expectations and Soda Core 3
 * and 4, on the same tables in the same states.
 *
 *     node test/run.ts --timeout=1500 test/peers/imports.peer.ts
 *
 * It needs Python 3 and a package index. Telemetry of all three is switched off.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import pg from 'pg'
import t from 'tap'
import type { Test } from 'tap'
import { importDbt } from '../../plugins/monitors/import/dbt.ts'
import { importSuites } from '../../plugins/monitors/import/great-expectations.ts'
import type { ImportDraft } from '../../plugins/monitors/import/import-draft.ts'
import { startDraft } from '../plugins/monitors/import/draft.ts'
import { importSoda } from '../../plugins/monitors/import/soda.ts'
import { startStockPostgres } from '../helpers/stock-postgres.ts'
import { startServer, type Tenant } from '../helpers/server.ts'
import { discover } from '../helpers/world.ts'
import {
  CONFIGURED_SODA_CHECKS,
  DBT_TESTS,
  EXPECTATIONS,
  SODA_CHECKS,
  SODA_CONFIGURATIONS,
  SODA_CONTRACT_CHECKS,
  SODA_PART,
  SODA_PART_CHECKS,
  STATES,
  TABLES,
} from './imports/cases.ts'
import { makeDbtProject } from './imports/dbt.ts'
import { pythonWith } from './python.ts'
import { startSoda, startSodaContracts } from './soda/scanner.ts'

const DATABASE = 'postgres'
const GX_PACKAGES = ['great_expectations==1.24.1', 'psycopg2-binary==2.9.10', 'sqlalchemy<2.1']

const cluster = await startStockPostgres()
const owner = new pg.Client({ ...cluster, database: DATABASE })
await owner.connect()
t.teardown(() => owner.end())
for (const statement of TABLES) await owner.query(statement)
await owner.query(`create role reader login password 'reader' in role pg_read_all_data`)
// dbt makes its schema, should it not be there.
await owner.query(`grant create on database ${DATABASE} to reader`)
const reader = { ...cluster, user: 'reader', password: 'reader' }

const app = await startServer(t)
const tenant = await app.signUp()
const asset = await post(tenant, '/api/v1/sdk/assets', {
  ...{ name: 'shop', source_type: 'postgresql' },
  connection_config: {
    ...{ host: reader.host, port: reader.port, username: reader.user, password: reader.password },
    ...{ database: DATABASE, sslmode: 'prefer' },
  },
})
await discover({ app, tenant, asset: asset as { id: string } })

/** A construct with the checks that it became; none when it was left out. */
interface Imported {
  name: string
  checks: { path: string; severity: string }[]
}

/** The paths of the kinds of checks, and what runs one. */
const RUNS = {
  validity: ['validity', 'check'],
  metric: ['metrics', 'capture'],
  referential: ['referential', 'execute'],
} as const

async function importOne(name: string, convert: (draft: ImportDraft) => void): Promise<Imported> {
  const draft = startDraft()
  convert(draft)
  const { document, left } = draft.finish()
  for (const { reason } of left) t.comment(`left out: ${name}: ${reason}`)
  const checks: Imported['checks'] = []
  for (const [table, { checks: kinds }] of Object.entries(document.tables))
    for (const [kind, entries] of Object.entries(kinds))
      for (const { key: _key, ...entry } of entries) {
        const body = { table_path: table, ...entry }
        const [path, run] = RUNS[kind as keyof typeof RUNS]
        const named =
          kind === 'referential' ? { ...body, child_table_path: table, table_path: undefined } : body
        const made = await post(tenant, `/api/v1/sdk/${path}/${asset.id}`, named)
        checks.push({
          path: `/api/v1/sdk/${path}/${asset.id}/${made.uuid ?? made.id}/${run}`,
          // A freshness schedule has no severity.
          severity: String(entry.severity ?? 'critical'),
        })
      }
  return { name, checks }
}

/** fail when a critical check fails, warn when another does. */
async function verdictOf({ checks }: Imported): Promise<string> {
  if (checks.length === 0) return 'not convertible'
  const failed: string[] = []
  for (const { path, severity } of checks) {
    const reply = await post(tenant, path, {})
    const { status, error_message: message } = reply.snapshots?.[0] ?? reply
    if (status === undefined || /error/i.test(status)) throw new Error(`${path}: ${message}`)
    if (!/pass/i.test(status)) failed.push(severity)
  }
  return failed.includes('critical') ? 'fail' : failed.length > 0 ? 'warn' : 'pass'
}

/** Compares in each state of the table. @param run the verdicts of the tool, in the order of the constructs */
async function compare(
  tool: string,
  imported: readonly Imported[],
  run: () => Promise<string[]>,
): Promise<void> {
  const verdicts: { name: string; state: string; ours: string; theirs: string }[] = []
  for (const [state, statements] of Object.entries(STATES)) {
    await owner.query('truncate orders')
    for (const statement of statements) await owner.query(statement)
    const theirs = await run()
    for (const [index, one] of imported.entries())
      verdicts.push({ name: one.name, state, ours: await verdictOf(one), theirs: String(theirs[index]) })
  }
  const converted = verdicts.filter(({ ours }) => ours !== 'not convertible')
  const different = converted.filter(({ ours, theirs }) => ours !== theirs)
  const left = imported.filter(({ checks }) => checks.length === 0).length
  t.comment(
    `${tool}: ${imported.length} constructs, ${left} not convertible; ${converted.length} verdicts in ${Object.keys(STATES).length} states: ${converted.length - different.length} equal, ${different.length} different`,
  )
  t.strictSame(different, [], tool)
  const failing = converted.filter(({ theirs }) => theirs !== 'pass').length
  t.ok(failing > 10 && failing < converted.length - 10, 'the states hold good and bad tables')
}

t.test('tests of dbt have the same verdicts', async () => {
  const sources = (tests: readonly (readonly [number, (typeof DBT_TESTS)[number]])[]) => ({
    version: 2,
    sources: [
      {
        name: 'shop',
        schema: 'public',
        tables: [
          { name: 'customers' },
          {
            name: 'orders',
            columns: tests.map(([index, [column, test, args = {}, config = {}]]) => ({
              name: column,
              data_tests: [{ name: `case_${index}`, test_name: test, ...args, config }],
            })),
          },
        ],
      },
    ],
  })
  const all = DBT_TESTS.map((test, index) => [index, test] as const)
  const imported: Imported[] = []
  for (const [index, test] of all)
    imported.push(
      await importOne(JSON.stringify(test), draft =>
        importDbt([{ name: 'schema.yml', text: JSON.stringify(sources([[index, test]])) }], draft, {
          engine: 'postgresql',
        }),
      ),
    )
  const runDbt = await makeDbtProject(t, reader, DATABASE, JSON.stringify(sources(all)))
  await compare('dbt', imported, async () => {
    const statuses = await runDbt()
    return all.map(([index]) => statuses.get(`case_${index}`) ?? 'missing')
  })
})

t.test('expectations of Great Expectations have the same verdicts', async t => {
  const imported: Imported[] = []
  for (const [type, kwargs] of EXPECTATIONS)
    imported.push(
      await importOne(`${type} ${JSON.stringify(kwargs)}`, draft =>
        importSuites(
          [{ name: 'suite.json', text: JSON.stringify({ expectations: [{ type, kwargs }] }) }],
          draft,
          {
            ...{ engine: 'postgresql', table: 'public.orders' },
          },
        ),
      ),
    )
  const python = await pythonWith(GX_PACKAGES)
  const url = `postgresql+psycopg2://${reader.user}:${reader.password}@${reader.host}:${reader.port}/${DATABASE}`
  const child = spawn(python, ['-W', 'ignore', `${import.meta.dirname}/imports/expectations.py`], {
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      GX_ANALYTICS_ENABLED: 'false',
      DO_NOT_TRACK: '1',
      DATABASE: url,
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  t.teardown(() => child.stdin.end())
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const suite = EXPECTATIONS.map(([type, kwargs]) => ({ type, kwargs }))
  await compare('Great Expectations', imported, async () => {
    child.stdin.write(`${JSON.stringify(suite)}\n`)
    const { value } = await lines.next()
    return JSON.parse(String(value)) as string[]
  })
})

t.test('checks of Soda have the same verdicts', async t => {
  await compareSoda(t, 'Soda', SODA_CHECKS, {})
})

t.test('checks of Soda with settings of their columns have the same verdicts', async t => {
  await compareSoda(t, 'Soda with configurations', CONFIGURED_SODA_CHECKS, {
    'configurations for orders': SODA_CONFIGURATIONS,
  })
})

t.test('checks of Soda with the filter of their section have the same verdicts', async t => {
  const more = { 'filter orders [part]': { where: SODA_PART } }
  await compareSoda(t, 'Soda with a filter', SODA_PART_CHECKS, more, 'checks for orders [part]')
})

t.test('checks of contracts of Soda have the same verdicts', async t => {
  const textOf = (some: readonly (readonly [number, (typeof SODA_CONTRACT_CHECKS)[number]])[]) => {
    const ofColumn = (wanted: string) =>
      some.flatMap(([index, [column, check, fields = {}]]) =>
        column === wanted ? [{ [check]: { name: `case_${index}`, qualifier: `${index}`, ...fields } }] : [],
      )
    const columns = [...new Set(some.flatMap(([, [column]]) => column || []))]
    return JSON.stringify({
      dataset: `shop/${DATABASE}/public/orders`,
      columns: columns.map(name => ({ name, checks: ofColumn(name) })),
      ...(some.some(([, [column]]) => column === '') && { checks: ofColumn('') }),
    })
  }
  const all = SODA_CONTRACT_CHECKS.map((check, index) => [index, check] as const)
  const imported: Imported[] = []
  for (const [index, check] of all)
    imported.push(
      await importOne(JSON.stringify(check), draft =>
        importSoda([{ name: 'contract.yml', text: textOf([[index, check]]) }], draft, {
          engine: 'postgresql',
        }),
      ),
    )
  const runSoda = await startSodaContracts(t, reader, DATABASE)
  await compare('Soda contracts', imported, async () => {
    const { outcomes } = await runSoda(textOf(all))
    // What has no value is not evaluated, and no failure.
    return all.map(([index]) => outcomes[`case_${index}`] ?? 'pass')
  })
})

async function compareSoda(
  t: Test,
  tool: string,
  checks: typeof SODA_CHECKS,
  more: object,
  section = 'checks for orders',
): Promise<void> {
  const textOf = (some: readonly (readonly [number, (typeof SODA_CHECKS)[number]])[]) =>
    JSON.stringify({
      // Soda wants a filter before the checks that name it.
      ...more,
      [section]: some.map(([index, [check, config = {}]]) => ({
        [check]: { name: `case_${index}`, ...config },
      })),
    })
  const all = checks.map((check, index) => [index, check] as const)
  const imported: Imported[] = []
  for (const [index, check] of all)
    imported.push(
      await importOne(JSON.stringify(check), draft =>
        importSoda([{ name: 'checks.yml', text: textOf([[index, check]]) }], draft, { engine: 'postgresql' }),
      ),
    )
  const runSoda = await startSoda(t, reader, DATABASE)
  await compare(tool, imported, async () => {
    const { outcomes } = await runSoda(textOf(all))
    return all.map(([index]) => outcomes[`case_${index}`] ?? 'pass')
  })
}

/** Posts, and waits where a limit on requests has been reached. */
interface Reply extends Record<string, unknown> {
  id?: string
  uuid?: string
  status?: string
  error_message?: string
  snapshots?: { status: string; error_message: string | null }[]
}

async function post(by: Tenant, path: string, payload: object): Promise<Reply> {
  for (;;) {
    const { status, body, headers } = await by.ask('POST', path, payload)
    if (status < 300) return body.data as Reply
    if (status !== 429) throw new Error(`${path}: ${JSON.stringify([payload, body])}`)
    await new Promise(resolve => setTimeout(resolve, 1_000 * Number(headers['retry-after'] ?? 1)))
  }
}
