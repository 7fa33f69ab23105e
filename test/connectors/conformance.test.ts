import t from 'tap'
import { conformanceTable, testConnector, type ConformanceTest } from '../../connectors/conformance.ts'
import type { Connector } from '../../connectors/connector.ts'
import { postgresql, type PostgresqlConfig } from '../../connectors/postgresql/index.ts'
import { sql } from '../../connectors/sql.ts'
import { startProxy } from '../helpers/proxy.ts'
import { executeCounted, partitionedTable, startSource } from '../helpers/source.ts'
import { FAULTS, leftovers } from './conformance-faults.ts'

/** The part of a test that takes things down at its end. */
interface Teardown {
  teardown(down: () => unknown): unknown
}

const GROUPS = [
  ...['config', 'refusals', 'connect', 'transactions', 'values', 'types', 'rows', 'statements', 'timeout'],
  ...['cancel', 'readOnly', 'introspection', 'partial catalogs', 'constraints', 'comments', 'estimates'],
  'costEstimates',
  ...[
    'renames',
    'lastModified',
    'partitions',
    'names',
    'dialect',
    'seconds',
    'moments',
    'regex',
    'percentile',
    'groupedPercentile',
    'dateParsing',
    'comparison',
  ],
]

/** A test that only notes what failed. */
function recorder(failed: string[]): ConformanceTest {
  return {
    async test(name, { skip }, run) {
      if (skip !== undefined) return
      await run(recorder(failed)).catch(() => failed.push(name))
    },
  }
}

/** Groups that write beside the fixture, and so need one of their own. */
const WRITES = [
  'readOnly',
  'introspection',
  'partial catalogs',
  'constraints',
  'comments',
  'estimates',
  'renames',
  'lastModified',
  'partitions',
  'comparison',
]

/** A database, behind a proxy that counts statements, with a reader who may not read everything. */
async function prepare(t: Teardown & { equal(found: unknown, wanted: unknown, what: string): unknown }) {
  const source = await startSource(t)
  const proxy = await startProxy(t, source.config)
  const config = { ...source.config, port: proxy.port }
  const stranger = `${source.name}_stranger`
  await source.query(`create role ${stranger} login password 'stranger-1'`)
  t.teardown(() => source.query(`drop owned by ${stranger}; drop role ${stranger}`))
  const idle = async (state: string) => {
    const rows = await source.query(
      `select from pg_stat_activity where application_name = 'tidemark' and datname = $1 and state like $2`,
      [source.name, state],
    )
    return rows.length
  }
  let isBuilt = false

  /** Runs one group of the kit on a connector and gives the promises that it breaks. */
  async function broken(connector: Connector<PostgresqlConfig>, group: string, number: number) {
    const isShared = !WRITES.includes(group)
    const schema = isShared ? 'shared' : `fault_${number}`
    const mustBuild = !isShared || !isBuilt
    if (mustBuild) await source.query(`create schema ${schema}`)
    isBuilt ||= isShared
    const failed: string[] = []
    const { conforming, groups } = await testConnector(recorder(failed), {
      connector,
      config,
      skip: Object.fromEntries(GROUPS.filter(name => name !== group).map(name => [name, 'not of interest'])),
      setup: () => ({
        execute: async text => (mustBuild ? executeCounted(source, text) : []),
        partitioned: partitionedTable,
        catalog: source.name,
        schema,
        refused: [
          { name: 'a wrong password', config: { ...config, password: 'not-this-one' }, kind: 'credentials' },
        ],
        slow: sql`select pg_sleep(60)`,
        countSessions: () => idle('%'),
        countTransactions: () => idle('idle in transaction%'),
        countStatements: () => proxy.statements.length,
        revokeAccess: () => ({
          statement: sql`select * from shared.conformance_texts`,
          config: { ...config, username: stranger, password: 'stranger-1' },
        }),
        async hideColumns() {
          await source.query(`create table ${schema}.partly (id int primary key, secret int unique)`)
          await source.query(`grant usage on schema ${schema} to ${stranger}`)
          await source.query(`grant select (id) on ${schema}.partly to ${stranger}`)
          return {
            table: { catalog: source.name, schema, name: 'partly' },
            config: { ...config, username: stranger, password: 'stranger-1' },
          }
        },
        types: { binary: 'bytea' },
        literals: { binary: `'\\x00ff10'` },
        refusesNames: ['64 characters'],
      }),
    })
    for (const undo of leftovers.splice(0).reverse()) await undo()
    t.equal(conforming, false, 'what was skipped counts')
    const report = groups.find(({ name }) => name === group)
    t.equal((report?.promises ?? 0) > (report?.passed ?? 0), failed.length > 0, 'the report says so')
    return failed
  }
  return { source, broken }
}

t.test('the kit finds what a connector does wrong', async t => {
  const { source, broken } = await prepare(t)
  for (const [index, [group, promise, connector]] of FAULTS.entries()) {
    const at = Date.now()
    const failed = await broken(connector(source), group, index)
    t.comment('TIME', group, Date.now() - at, promise.source)
    t.ok(
      failed.some(name => promise.test(name)),
      `${group}: ${promise.source} is among ${failed.join(' | ')}`,
    )
  }
})

t.test('skipping needs a known group and a reason', async t => {
  const options = { connector: postgresql, config: {}, setup: () => Promise.reject(new Error('not reached')) }
  await t.rejects(
    testConnector(recorder([]), { ...options, skip: { no_such: 'because' } }),
    /No group "no_such"/,
  )
  await t.rejects(testConnector(recorder([]), { ...options, skip: { values: ' ' } }), /needs a reason/)
})

t.test('a run that was cut off is not conforming, and says so', async t => {
  const source = await startSource(t)
  const comments: string[] = []
  const options = {
    connector: postgresql,
    config: source.config,
    setup: () => ({
      execute: async (text: string) => source.query(text),
      catalog: source.name,
      schema: 'public',
      refused: [
        {
          name: 'a wrong password',
          config: { ...source.config, password: 'not-this-one' },
          kind: 'credentials' as const,
        },
      ],
      slow: sql`select pg_sleep(60)`,
      types: { binary: 'bytea' },
      literals: { binary: `'\\x00ff10'` },
      refusesNames: ['64 characters' as const],
    }),
  }
  const { conforming, groups } = await testConnector(
    // As a runner whose time is up: tap then resolves what it never ran.
    { test: async () => {}, comment: text => comments.push(String(text)) },
    options,
  )
  t.equal(conforming, false)
  t.strictSame(groups.map(({ ended }) => ended).filter(Boolean), [])
  t.match(comments, [/these groups did not end: config, refusals, .*TAP_TIMEOUT/])
  const table = conformanceTable({ PostgreSQL: { conforming, skipped: [], groups } })
  t.match(table, /\| values \| 0\/0 \(cut off\) \|/)
  t.match(table, /\| conforming \| no \|/)
})

t.test('results are printed as a table, engine by engine', async t => {
  const group = { basic: true, ended: true, promises: 2, passed: 2, skipped: [] }
  const table = conformanceTable({
    'Engine A': {
      conforming: true,
      skipped: [],
      groups: [
        { ...group, name: 'types', skipped: [{ promise: 'json', reason: 'it has none' }] },
        { ...group, name: 'cancel', promises: 0, passed: 0, reason: 'not claimed' },
      ],
    },
    B: {
      conforming: false,
      skipped: [],
      groups: [
        { ...group, name: 'types', passed: 1 },
        { ...group, name: 'cancel', ended: false, promises: 0, passed: 0 },
      ],
    },
  })
  t.same(table.split('\n'), [
    '| Group | Engine A | B |',
    '| --- | --- | --- |',
    '| types | 2/2 (+1 skipped) | 1/2 |',
    '| cancel | – (not claimed) | 0/0 (cut off) |',
    '| conforming | yes | no |',
    '',
    '- Engine A, types: json: it has none',
  ])
})
