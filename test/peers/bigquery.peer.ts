/**
 * Holds the BigQuery connector to bqemulator, which others wrote and which understands GoogleSQL by sqlglot and a
 * DuckDB. It is no part of the tests, because it fetches packages of Python (200 MB):
 *
 *     npx tap --timeout=900 test/peers/bigquery.peer.ts
 */
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { describeTable, testBuiltIns } from '../../checks/conformance.ts'
import { edgeCases } from '../../checks/conformance/built-in-cases.ts'
import { makeBigquery, type BigqueryConfig } from '../../connectors/bigquery/index.ts'
import { conformanceTable, testConnector } from '../../connectors/conformance.ts'
import type { Egress, IntrospectScope } from '../../connectors/connector.ts'
import { sql } from '../../connectors/sql.ts'
import { inGoogleSql, keyFile, PROJECT } from '../helpers/bigquery.ts'
import { bigqueryStand, onBigquery } from '../helpers/bigquery/stand.ts'
import { startService } from '../helpers/warehouse.ts'
import { pythonWith } from './python.ts'

const HOST = 'bigquery.googleapis.com'
const PACKAGES = ['bqemulator==1.4.0', 'duckdb==2.0.0', 'numpy==2.4.6']
const START_TRIES = 120

/** Starts it without DuckDB's extension for GEOGRAPHY, which it would fetch from a server of its own. */
const START = `
import sys
from bqemulator.storage.engine import DuckDBEngine
DuckDBEngine._load_spatial = lambda self: None
from bqemulator.cli import main
main()
`

interface Emulator {
  /** Where the emulator answers, without TLS. */
  url: string
  port: number
  statements(): number
  execute(text: string): Promise<void>
}

/** Starts the emulator and, before it, the HTTPS that it lacks. */
async function startEmulator(t: Test): Promise<Emulator> {
  const python = await pythonWith(PACKAGES)
  const [rest, grpc] = [await freePort(), await freePort()]
  const ports = ['--rest-port', String(rest), '--grpc-port', String(grpc)]
  const child = spawn(python, ['-c', START, 'start', ...ports, '--project', PROJECT], { stdio: 'ignore' })
  t.teardown(() => child.kill())
  const url = `http://127.0.0.1:${rest}`
  const datasets = `${url}/bigquery/v2/projects/${PROJECT}/datasets`
  for (let tries = 0; ; tries++) {
    const answer = await fetch(datasets).catch(() => null)
    if (answer?.ok) break
    if (child.exitCode !== null || tries > START_TRIES) throw new Error('bqemulator does not start')
    await sleep(250)
  }
  let statements = 0
  const service = await startService(t, [HOST], async ({ method, path, query, body }) => {
    if (method === 'POST' && path.endsWith('/queries')) statements += 1
    const given = body as { query?: string } | null
    const sent = given?.query === undefined ? given : { ...given, query: within(given.query) }
    const answer = await fetch(`${url}${path}?${query}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(sent && { body: JSON.stringify(sent) }),
    })
    return { status: answer.status, body: await answer.text() }
  })
  await post(datasets, { datasetReference: { projectId: PROJECT, datasetId: 'shop' }, location: 'US' })
  return {
    url,
    port: service.port,
    statements: () => statements,
    async execute(text) {
      const reply = await post(`${url}/bigquery/v2/projects/${PROJECT}/queries`, {
        query: text,
        useLegacySql: false,
      })
      const { errors: [failure] = [] } = reply as { errors?: { message: string }[] }
      if (failure) throw new Error(failure.message)
    },
  }
}

async function post(url: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(await answer.text())
  return answer.json()
}

function freePort(): Promise<number> {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

/** FORMAT has no `%t` in the emulator. */
function within(text: string): string {
  return text.replaceAll(/if\((.+?) is null, null, format\('%t', \1\)\)/g, 'cast($1 as string)')
}

/** A statement of the kit for the emulator, which has no keys. */
function withoutKeys(text: string): string {
  return inGoogleSql(text).replaceAll(/, primary key \([^)]*\) not enforced/g, '')
}

const egress: Egress = {
  address: async () => '127.0.0.1',
  file: async path => path,
  folder: async path => path,
}

t.test('on bqemulator', async t => {
  const emulator = await startEmulator(t)
  const connector = makeBigquery({ port: emulator.port })
  const config = { project_id: PROJECT, credentials_json: keyFile(), dataset: 'shop' }

  await t.test('it conforms', async t => {
    const found = await testConnector(t, {
      connector,
      config,
      egress,
      skip: {
        refusals: 'bqemulator takes any token and any project',
        ...Object.fromEntries(
          [
            ...['types', 'introspection', 'partial catalogs', 'constraints', 'comments', 'estimates'],
            ...['moments', 'lastModified', 'names'],
          ].map(group => [
            group,
            'bqemulator has half of the views of the catalog, and those in another form',
          ]),
        ),
        seconds: 'bqemulator cuts unix_seconds towards zero, which BigQuery rounds down',
        statements: "bqemulator reports a missing column in DuckDB's words",
        timeout: 'bqemulator runs a query to its end before it answers',
        cancel: 'bqemulator runs a query to its end before it answers',
      },
      setup: () => ({
        execute: text => emulator.execute(withoutKeys(text)),
        catalog: PROJECT,
        schema: 'shop',
        refused: [],
        hasFixedAddress: true,
        // Takes seconds only, because nothing would end it.
        slow: sql`select count(*) as n from unnest(generate_array(1, 40000)) as a cross join unnest(generate_array(1, 40000)) as b where mod(a, 7) = mod(b, 11)`,
        countStatements: () => emulator.statements(),
        types: {
          integer: 'int64',
          bigint: 'int64',
          varchar: 'string(200)',
          double: 'float64',
          decimal: 'numeric(20, 2)',
          boolean: 'bool',
          binary: 'bytes',
          timestamp: 'datetime',
          timestamptz: 'timestamp',
        },
        literals: {
          decimal: `numeric '123456789012345678.90'`,
          binary: `from_hex('00ff10')`,
          date: `date '2024-02-29'`,
          time: `time '12:34:56'`,
          timestamp: `datetime '2024-02-29 12:34:56'`,
          timestamptz: `timestamp '2024-02-29 13:34:56+01:00'`,
          json: `json '{"a": [1, "x", null], "b": {}}'`,
        },
        refusesNames: [
          'quotes',
          'backtick',
          'backslash',
          'bracket',
          'dots',
          'emoji',
          'injection',
          'placeholder',
          'percent',
          'spaces',
          'right to left',
          'unicode',
          'leading digits',
          'upper case',
          'case twin',
        ],
      }),
    })
    t.comment(conformanceTable({ BigQuery: found }))
  })

  await t.test('every check gives the numbers of every engine', async t => {
    const settings = connector.config.validate(config).value as BigqueryConfig
    const connection = await connector.connect(settings, { egress, log: { debug: () => {}, warn: () => {} } })
    t.teardown(() => connection.close())
    const { execute } = emulator
    // The catalog is not asked: the emulator lacks the views that hold it.
    const introspect = async ({ tables = [] } = {} as IntrospectScope) =>
      tables.map(ref => describeTable(ref, []))
    const on = bigqueryStand({
      connector,
      connection: { query: connection.query, introspect },
      execute,
      project: PROJECT,
      dataset: 'shop',
    })
    const make: typeof on.createTable = async (columns, rows) => {
      const { table, connection: reader } = await on.createTable(columns, rows)
      return { table: describeTable(table, columns), connection: reader }
    }
    const huge = Object.entries(edgeCases).flatMap(([check, cases]) =>
      cases.filter(({ name }) => name.startsWith('huge decimals')).map(({ name }) => `${check}: ${name}`),
    )
    const skip = Object.fromEntries(
      ['RANGE: a bound beyond 64 bits', ...huge].map(name => [
        name,
        'a BIGNUMERIC of bqemulator has 28 digits before its point, one of BigQuery 38',
      ]),
    )
    await testBuiltIns(t, {
      database: { ...on, createTable: make },
      extraCases: onBigquery,
      skip: {
        ...skip,
        'min_value: NaN and infinity: NaN is above all numbers': 'bqemulator sorts NaN last, as DuckDB does',
      },
    })
  })
})
