import Joi from 'joi'
import t from 'tap'
import { testConnector, type KitTest } from '../../connectors/conformance.ts'
import type { Connection, Connector } from '../../connectors/connector.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import { postgresql, type PostgresqlConfig } from '../../connectors/postgresql/index.ts'
import { raw, sql } from '../../connectors/sql.ts'
import { startSource, type Source } from '../helpers/source.ts'

const GROUPS = [
  ...[
    'config',
    'connect',
    'values',
    'timeout',
    'cancel',
    'readOnly',
    'introspection',
    'constraints',
    'comments',
  ],
  ...['estimates', 'renames', 'dialect', 'regex', 'percentile', 'dateParsing'],
]

/** A test that only notes what failed. */
function recorder(failed: string[]): KitTest {
  return {
    async test(name, { skip }, run) {
      if (skip !== undefined) return
      await run(recorder(failed)).catch(() => failed.push(name))
    },
  }
}

/** Runs one group of the kit on a connector and gives the promises that it breaks. */
async function broken(source: Source, schema: string, connector: Connector<PostgresqlConfig>, group: string) {
  await source.query(`create schema ${schema}`)
  const failed: string[] = []
  const skip = Object.fromEntries(
    GROUPS.filter(name => name !== group).map(name => [name, 'not of interest here']),
  )
  const { conforming } = await testConnector(recorder(failed), {
    connector,
    config: source.config,
    skip,
    setup: () => ({
      execute: text => source.query(text),
      catalog: source.name,
      schema,
      refused: [
        { name: 'a wrong password', config: { ...source.config, password: 'wrong' }, kind: 'credentials' },
      ],
      slow: sql`select pg_sleep(60)`,
    }),
  })
  t.equal(conforming, false, 'what was skipped counts')
  return failed
}

/** PostgreSQL's connector with something changed about its sessions. */
function withConnection(change: (connection: Connection, source: Source) => Partial<Connection>) {
  return (source: Source): Connector<PostgresqlConfig> => ({
    ...postgresql,
    async connect(config, options) {
      const connection = await postgresql.connect(config, options)
      return { ...connection, ...change(connection, source) }
    },
  })
}

const withDialect = (change: Partial<Connector['dialect']>) => () => ({
  ...postgresql,
  dialect: { ...postgresql.dialect, ...change },
})

const withConfig = (config: Connector<PostgresqlConfig>['config']) => () => ({ ...postgresql, config })

/** A fault that a connector may have, the group that must find it, and the promise that is broken. */
const FAULTS: [string, RegExp, (source: Source) => Connector<PostgresqlConfig>][] = [
  ['config', /unknown key/, withConfig(postgresql.config.unknown())],
  ['config', /secrets are marked/, withConfig(postgresql.config.keys({ password: Joi.string().allow('') }))],
  [
    'connect',
    /closes twice/,
    withConnection(({ close }) => {
      let closed = false
      return {
        async close() {
          if (closed) throw new Error('closed already')
          closed = true
          await close()
        },
      }
    }),
  ],
  [
    'connect',
    /egress/,
    () => ({
      ...postgresql,
      connect: (config, options) =>
        postgresql.connect(config, {
          ...options,
          egress: { ...options.egress, address: async host => host },
        }),
    }),
  ],
  [
    'connect',
    /wrong password is refused/,
    () => ({
      ...postgresql,
      connect: (config, options) =>
        postgresql.connect(config, options).catch((error: Error) => {
          throw new Error(error.message)
        }),
    }),
  ],
  [
    'values',
    /integers within/,
    withConnection(({ query }) => ({
      query: async (statement, options) =>
        (await query(statement, options)).map(row =>
          Object.fromEntries(
            Object.entries(row).map(([name, value]) => [
              name,
              typeof value === 'number' ? `${value}` : value,
            ]),
          ),
        ),
    })),
  ],
  [
    'values',
    /maxRows/,
    withConnection(({ query }) => ({
      query: (statement, { timeoutMs }) => query(statement, { timeoutMs }),
    })),
  ],
  [
    'values',
    /texts are bound/,
    withConnection(({ query }) => ({
      query: (statement, options) =>
        query(raw(statement.render(at => `'${String(statement.values[at - 1])}'`).text), options),
    })),
  ],
  [
    'timeout',
    /kind timeout/,
    withConnection(({ query }) => ({
      query: (statement, options) =>
        query(statement, options).catch((error: ConnectorError) => {
          throw new ConnectorError({ kind: 'other', engine: error.engine, message: error.message })
        }),
    })),
  ],
  [
    'cancel',
    /aborts/,
    withConnection(({ query }) => ({
      query: (statement, { signal, ...options }) =>
        signal ? Promise.resolve([]) : query(statement, options),
    })),
  ],
  [
    'readOnly',
    /refuses to write/,
    withConnection((_, source) => ({
      async query(statement) {
        const { text, values } = postgresql.dialect.render(statement)
        return (await source.query(text, values)) as never
      },
    })),
  ],
  [
    'introspection',
    /sorted/,
    withConnection(({ introspect }) => ({
      introspect: async scope => (await introspect(scope)).reverse(),
    })),
  ],
  ['introspection', /a scope/, withConnection(({ introspect }) => ({ introspect: () => introspect() }))],
  [
    'introspection',
    /system schemas/,
    withConnection(({ introspect }) => ({
      introspect: async scope =>
        (await introspect(scope)).concat(
          (await introspect(scope)).map(table => ({ ...table, schema: 'pg_catalog' })),
        ),
    })),
  ],
  [
    'introspection',
    /views are views/,
    withConnection(({ introspect }) => ({
      introspect: async scope => (await introspect(scope)).map(table => ({ ...table, kind: 'table' })),
    })),
  ],
  [
    'introspection',
    /if and only if/,
    () => ({
      ...postgresql,
      capabilities: { ...postgresql.capabilities, lastModified: true },
    }),
  ],
  [
    'constraints',
    /own order/,
    withConnection(({ introspect }) => ({
      introspect: async scope =>
        (await introspect(scope)).map(table => ({
          ...table,
          constraints: table.constraints.map(each => ({ ...each, columns: each.columns.toSorted() })),
        })),
    })),
  ],
  ['dialect', /quoted identifier/, withDialect({ quote: name => raw(`"${name.replaceAll('"', '')}"`) })],
  [
    'dialect',
    /empty tables/,
    withDialect({ countIf: condition => sql`sum(case when ${condition} then 1 end)` }),
  ],
  [
    'dialect',
    /whole condition/,
    withDialect({ countIf: condition => sql`count(*) filter (where 1 = 0 and ${condition})` }),
  ],
  [
    'regex',
    /case-sensitively/,
    withDialect({ matches: (value, pattern) => sql`(${value})::text ~* ${pattern}` }),
  ],
  [
    'regex',
    /searched/,
    withDialect({ matches: (value, pattern) => sql`(${value})::text ~ ${`^(${pattern})$`}` }),
  ],
  [
    'percentile',
    /interpolated/,
    withDialect({
      percentile: (value, fraction) =>
        sql`percentile_disc(${fraction}::float8) within group (order by ${value})`,
    }),
  ],
  [
    'dateParsing',
    /%Y-%m-%d takes real/,
    withDialect({
      parsesAsDate: value => sql`(${value})::text ~ '^\\d{4}-\\d\\d-\\d\\d$'`,
    }),
  ],
  [
    'dateParsing',
    /%d.%m.%Y takes real/,
    withDialect({
      parsesAsDate: value => sql`to_date(${value}, 'DD.MM.YYYY') is not null`,
    }),
  ],
]

t.test('the kit finds what a connector does wrong', async t => {
  const source = await startSource(t)
  for (const [index, [group, promise, connector]] of FAULTS.entries()) {
    const failed = await broken(source, `fault_${index}`, connector(source), group)
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
