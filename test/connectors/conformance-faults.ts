import tls from 'node:tls'
import Joi from 'joi'
import pg from 'pg'
import { tablePath, type ColumnInfo, type TableInfo, type TableRef } from '../../connectors/catalog.ts'
import type {
  Connection,
  Connector,
  QueryOptions,
  Row,
  TablePart,
  Value,
} from '../../connectors/connector.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import { postgresql, type PostgresqlConfig } from '../../connectors/postgresql/index.ts'
import type { ComparisonDialect } from '../../connectors/dialect.ts'
import { raw, sql, Sql } from '../../connectors/sql.ts'
import type { Source } from '../helpers/source.ts'

/** What a fault leaves behind, put right after its run. */
export const leftovers: (() => Promise<unknown> | void)[] = []

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

/** PostgreSQL's connector with something changed about how it writes values for comparisons. */
const withComparison = (change: Partial<ComparisonDialect>) =>
  withDialect({ comparison: { ...postgresql.dialect.comparison!, ...change } })

const withConfig = (config: Connector<PostgresqlConfig>['config']) => () => ({ ...postgresql, config })

/** A connector that takes some tables for hidden. */
const withHidden = (isHidden: (table: TableRef) => boolean) =>
  withConnection(() => ({
    findHiddenTables: async tables => {
      const reason = new ConnectorError({
        kind: 'permission',
        engine: 'postgresql',
        message: 'It may be there.',
      })
      return new Map(tables.filter(isHidden).map(table => [tablePath(table), reason]))
    },
  }))

/** A connector whose catalog shows a stranger no column called `secret`, nor its keys. */
const withColumnsHidden =
  (hiddenParts?: Connection['findHiddenParts']): Make =>
  () => ({
    ...postgresql,
    async connect(config, options) {
      const connection = await postgresql.connect(config, options)
      const isHidden = (name: string) => name === 'secret' && config.username.endsWith('_stranger')
      return {
        ...connection,
        ...(hiddenParts && { findHiddenParts: hiddenParts }),
        introspect: async scope =>
          (await connection.introspect(scope)).map(table => ({
            ...table,
            columns: table.columns.filter(({ name }) => !isHidden(name)),
            constraints: table.constraints.filter(({ columns }) => !columns.some(isHidden)),
          })),
      }
    },
  })

/** A connector that claims to know when rows changed, and reports some tables so: by counting those of the kit's. */
const withModified =
  (
    select: (connection: Connection, tables: TableRef[]) => Promise<TableRef[]>,
    time: (rows: number) => Date = rows => new Date(rows),
  ): Make =>
  source => ({
    ...withConnection(connection => ({
      async lastModified(tables) {
        const counted = postgresql.dialect.table({ ...(tables[0] as TableRef), name: 'conformance_modified' })
        const [row] = await connection.query(sql`select count(*) as n from ${counted}`, { timeoutMs: 10_000 })
        const selected = await select(connection, tables)
        return new Map(selected.map(table => [tablePath(table), time(Number(row?.n))]))
      },
    }))(source),
    capabilities: { ...postgresql.capabilities, lastModified: true },
  })

/** A connector that lists the parts of tables otherwise. */
const withParts = (change: (parts: TablePart[] | null) => TablePart[] | null): Make =>
  withConnection(({ listParts }) => ({
    listParts: async (table, options) => change((await listParts?.(table, options)) ?? null),
  }))

/** The tables among some, without views. */
const stored = async (connection: Connection, tables: TableRef[]) =>
  (await connection.introspect({ tables })).filter(({ kind }) => kind === 'table')

/** How a fault's connector and its sessions are made. */
type Make = (source: Source) => Connector<PostgresqlConfig>

const withConnect =
  (connect: Connector<PostgresqlConfig>['connect']): Make =>
  () => ({ ...postgresql, connect })

/** The error that `connect` and `query` reject with, changed. */
const failingWith = (change: (error: ConnectorError, config: PostgresqlConfig) => Error): Make =>
  withConnect(async (config, options) => {
    const blame = (error: ConnectorError): never => {
      throw change(error, config)
    }
    const connection = await postgresql.connect(config, options).catch(blame)
    return { ...connection, query: (...asked) => connection.query(...asked).catch(blame) }
  })

function changed(error: ConnectorError, fields: Partial<ConnectorError>): ConnectorError {
  const { kind, engine, code, message, cause } = {
    ...error,
    message: error.message,
    cause: error.cause,
    ...fields,
  }
  return new ConnectorError({ kind, engine, code, message, cause })
}

/** Rows as the session gives them, changed. */
const withRows = (change: (rows: Row[], options: QueryOptions) => Row[]): Make =>
  withConnection(({ query }) => ({
    query: async (statement, options) => change(await query(statement, options), options),
  }))

/** Every value as it arrives, changed. */
const withValues = (change: (value: Value) => Value): Make =>
  withRows(rows =>
    rows.map(row => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, change(value)]))),
  )

/** Every value as it is bound, changed. */
const withBound = (change: (value: unknown) => unknown): Make =>
  withConnection(({ query }) => ({
    query: ({ strings, values }, options) => query(new Sql(strings, values.map(change)), options),
  }))

const withTables = (change: (tables: TableInfo[]) => TableInfo[]): Make =>
  withConnection(({ introspect }) => ({ introspect: async scope => change(await introspect(scope)) }))

const withColumns = (change: (column: ColumnInfo) => Partial<ColumnInfo>): Make =>
  withTables(tables =>
    tables.map(table => ({
      ...table,
      columns: table.columns.map(column => ({ ...column, ...change(column) })),
    })),
  )

/** A fault that a connector may have, the group that must find it, and the promise that is broken. */
export const FAULTS: [string, RegExp, Make][] = [
  ['config', /unknown key/, withConfig(postgresql.config.unknown())],
  ['config', /secrets are marked/, withConfig(postgresql.config.keys({ password: Joi.string().allow('') }))],
  [
    'config',
    /marked as an address/,
    withConfig(
      postgresql.config.keys({
        host: Joi.string()
          .pattern(/^[^/\s@]+$/)
          .required(),
      }),
    ),
  ],
  [
    'config',
    /marked as an address/,
    withConfig(postgresql.config.keys({ port: Joi.number().default(5432) })),
  ],
  [
    'config',
    /marked as TLS/,
    withConfig(postgresql.config.keys({ sslmode: Joi.string().default('prefer') })),
  ],
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
    'refusals',
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
    'rows',
    /beyond maxRows/,
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
    'costEstimates',
    /what is estimated is not run/,
    withConnection(({ query }) => ({
      estimateCost: async (statement, options) => {
        const found = await query(statement, options)
        return { rows: found.length, bytes: null }
      },
    })),
  ],
  [
    'costEstimates',
    /unknown table is refused/,
    withConnection(() => ({ estimateCost: async () => ({ rows: null, bytes: null }) })),
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
  ['lastModified', /unknown tables are left out/, withModified(async (_, tables) => tables)],
  [
    'lastModified',
    /a view has none/,
    withModified((connection, tables) => connection.introspect({ tables })),
  ],
  [
    'lastModified',
    /whatever their names/,
    withModified(async (connection, tables) =>
      (await stored(connection, tables)).filter(({ name }) => !name.includes('.')),
    ),
  ],
  ['lastModified', /stays while no row changes/, withModified(stored, () => new Date())],
  [
    'lastModified',
    /as many statements/,
    withModified(async (connection, tables) => {
      const found: TableRef[] = []
      for (let from = 0; from < tables.length; from += 1000)
        found.push(...(await stored(connection, tables.slice(from, from + 1000))))
      return found
    }),
  ],
  ['partitions', /each of its rows once/, withParts(parts => parts?.slice(1) ?? null)],
  ['partitions', /does not exist are not known/, withParts(parts => parts ?? [])],
  [
    'partitions',
    /an insert moves .* of no other/,
    withParts(
      parts =>
        parts?.map(part => ({ ...part, version: parts.map(({ version }) => version).join(' ') })) ?? null,
    ),
  ],
  [
    'partial catalogs',
    /given up rejects/,
    withConnection(({ introspect }) => ({ introspect: scope => introspect({ tables: scope?.tables }) })),
  ],
  [
    'partial catalogs',
    /given up rejects/,
    withConnection(({ introspect }) => ({ introspect: scope => introspect(scope).catch(() => []) })),
  ],
  [
    'partial catalogs',
    /given up rejects/,
    withConnection(({ introspect }) => ({
      introspect: async scope => {
        const tables = await introspect({ tables: scope?.tables })
        scope?.signal?.throwIfAborted()
        return tables
      },
    })),
  ],
  ['partial catalogs', /columns whose privilege is lost/, withColumnsHidden()],
  ['partial catalogs', /columns whose privilege is lost/, withColumnsHidden(async () => new Map())],
  [
    'partial catalogs',
    /column that was dropped is not hidden/,
    withColumnsHidden(async tables => {
      const reason = new ConnectorError({ kind: 'permission', engine: 'postgresql', message: 'Not granted.' })
      return new Map(tables.map(table => [tablePath(table), { columns: table.missingColumns, reason }]))
    }),
  ],
  ['partial catalogs', /table that was dropped is not hidden/, withHidden(() => true)],
  [
    'partial catalogs',
    /table that was dropped is not hidden/,
    withHidden(({ catalog }) => catalog === 'no_such_catalog'),
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
  ['names', /quoted identifier/, withDialect({ quote: name => raw(`"${name.replaceAll('"', '')}"`) })],
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
    /with case as the column compares it/,
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
    'groupedPercentile',
    /group has its own/,
    withDialect({
      percentile: (value, fraction, table) =>
        sql`(select percentile_cont(${fraction}::float8) within group (order by ${value}) from ${table})`,
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
  [
    'seconds',
    /timestamp: whole .* rounded down/,
    withDialect({ epochSeconds: value => sql`trunc(extract(epoch from ${value}))::bigint` }),
  ],
  [
    'seconds',
    /^date: whole .* in UTC/,
    withDialect({
      epochSeconds: value =>
        sql`floor(extract(epoch from ${value}::timestamp at time zone 'Asia/Tokyo'))::bigint`,
    }),
  ],
  ['seconds', /mod\(\)/, withDialect({ epochSeconds: value => sql`floor(date_part('epoch', ${value}))` })],
  [
    'seconds',
    /NULL of NULL/,
    withDialect({ epochSeconds: value => sql`coalesce(floor(extract(epoch from ${value}))::bigint, 0)` }),
  ],
  ['moments', /^timestamptz: max/, withDialect({ isInstant: () => false })],
  ['moments', /^timestamp: max/, withDialect({ isInstant: ({ type }) => type.startsWith('timestamp') })],
  ['moments', /other types/, withDialect({ isInstant: ({ type }) => type !== 'timestamp' })],
  ['config', /no path and no URL/, withConfig(postgresql.config.keys({ host: Joi.string().required() }))],
  [
    'refusals',
    /wrong password is refused .* without a secret/,
    failingWith((error, { password }) => changed(error, { message: `${error.message} It was ${password}.` })),
  ],
  [
    'refusals',
    /wrong password is refused .* without a secret/,
    failingWith((error, { password }) => changed(error, { cause: new Error(`sent ${password}`) })),
  ],
  [
    'refusals',
    /wrong password is refused .* in words/,
    failingWith(error => changed(error, { message: error.code })),
  ],
  ['refusals', /wrong password is refused/, failingWith(error => changed(error, { engine: 'pg' }))],
  [
    'refusals',
    /wrong password fails one stage/,
    () => ({
      ...postgresql,
      test: async (config, options) =>
        (await postgresql.test(config, options)).map(stage => ({
          ...stage,
          message: `${stage.message} ${config.password}`,
        })),
    }),
  ],
  ['refusals', /may not be read/, failingWith(error => changed(error, { kind: 'other' }))],
  [
    'refusals',
    /may not be read/,
    failingWith(error => changed(error, { message: 'This is not to be had.' })),
  ],
  [
    'connect',
    /signal has aborted/,
    withConnect((config, { signal: _, ...options }) => postgresql.connect(config, options)),
  ],
  [
    'connect',
    /closing ends/,
    withConnection(({ query }) => ({ query: (...asked) => query(...asked).catch(() => []) })),
  ],
  [
    'connect',
    /leave nothing/,
    withConnect(async (config, options) => {
      const spare = await postgresql.connect(config, options)
      leftovers.push(spare.close)
      return postgresql.connect(config, options)
    }),
  ],
  [
    'connect',
    /setting of the process/,
    withConnect((config, options) => {
      const before = tls.DEFAULT_MIN_VERSION
      tls.DEFAULT_MIN_VERSION = 'TLSv1'
      leftovers.push(() => void (tls.DEFAULT_MIN_VERSION = before))
      return postgresql.connect(config, options)
    }),
  ],
  [
    'transactions',
    /none is open/,
    withConnect(async (config, options) => {
      const client = new pg.Client({ ...config, user: config.username, application_name: 'tidemark' })
      await client.connect()
      await client.query('begin')
      leftovers.push(() => client.end())
      return postgresql.connect(config, options)
    }),
  ],
  ['values', /NUL in a text/, withBound(value => (typeof value === 'string' ? value.split('\0')[0] : value))],
  [
    'values',
    /characters is bound/,
    withBound(value => (typeof value === 'string' ? value.slice(0, 65_535) : value)),
  ],
  ['values', /empty text/, withValues(value => (value === '' ? null : value))],
  ['values', /numbers and nulls/, withBound(value => (typeof value === 'bigint' ? Number(value) : value))],
  ['types', /boolean: /, withColumns(({ kind }) => (kind === 'boolean' ? { kind: 'other' } : {}))],
  ['types', /boolean: /, withValues(value => (typeof value === 'boolean' ? Number(value) : value))],
  [
    'types',
    /binary: /,
    withValues(value => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value)),
  ],
  ['types', /json: /, withValues(value => (isPlain(value) ? JSON.stringify(value) : value))],
  ['types', /timestamptz: /, withValues(value => (value instanceof Date ? value.toISOString() : value))],
  ['types', /decimal: /, withValues(value => (/^\d+\.\d+$/.test(String(value)) ? Number(value) : value))],
  [
    'types',
    /date: /,
    withValues(value => (/^\d+-\d+-\d+$/.test(String(value)) ? new Date(String(value)) : value)),
  ],
  ['types', /time: /, withColumns(({ kind }) => (kind === 'time' ? { kind: 'timestamp' } : {}))],
  ['types', /canonical/, withColumns(({ type }) => ({ type: type.replace(/\(.*\)/, '') }))],
  ['types', /canonical/, withColumns(({ type }) => ({ type: type.toUpperCase() }))],
  [
    'types',
    /a decimal is bound/,
    withBound(value => (/^\d+\.\d+$/.test(String(value)) ? Number(value) : value)),
  ],
  [
    'types',
    /a Date is bound/,
    withBound(value => (value instanceof Date ? new Date(value.getTime() + 1000) : value)),
  ],
  ['rows', /arrive whole/, withRows(rows => rows.slice(0, 1000))],
  ['rows', /a view over/, withRows(rows => (rows.length === 1000 ? rows.slice(1) : rows))],
  ['rows', /an empty table/, withRows(rows => (rows.length === 0 ? [{}] : rows))],
  ['rows', /counted and added up/, withDialect({ asNumber: value => sql`nullif(${value}, 10000)` })],
  ['statements', /blamed by its kind/, failingWith(error => changed(error, { kind: 'other' }))],
  [
    'statements',
    /quotes what a statement has read/,
    failingWith(error => changed(error, { message: `invalid input syntax: "alpha" (${error.code})` })),
  ],
  [
    'statements',
    /quotes what a statement has read/,
    failingWith(error => changed(error, { cause: new Error('alpha is no integer') })),
  ],
  [
    'validation',
    /accepted is not run/,
    withConnection(({ query }) => ({
      validate: async statement => void (await query(statement, { timeoutMs: 300 })),
    })),
  ],
  ['validation', /refused by their kind/, withConnection(() => ({ validate: async () => undefined }))],
  [
    'validation',
    /without a fault is accepted/,
    withConnection(({ validate }) => ({
      validate: (statement, options) => validate!(sql`${statement} limit`, options),
    })),
  ],
  [
    'introspection',
    /as many statements/,
    withConnection(({ introspect, query }) => ({
      async introspect(scope) {
        const tables = await introspect(scope)
        for (const _ of tables) await query(sql`select 1 as one`, { timeoutMs: 5000 })
        return tables
      },
    })),
  ],
  [
    'names',
    /upper case: /,
    withTables(tables => tables.map(table => ({ ...table, name: table.name.toLowerCase() }))),
  ],
  ['names', /quoted back/, withDialect({ quote: name => postgresql.dialect.quote(name.slice(0, 60)) })],
  [
    'names',
    /a scope finds each/,
    withConnection(({ introspect }) => ({
      introspect: scope => introspect({ tables: scope?.tables?.filter(({ name }) => !name.includes('%')) }),
    })),
  ],
  [
    'names',
    /differ by case/,
    withConnection(({ introspect }) => ({
      async introspect(scope) {
        const wanted = scope?.tables?.map(({ name }) => name.toLowerCase())
        return (await introspect()).filter(({ name }) => wanted?.includes(name.toLowerCase()) ?? true)
      },
    })),
  ],
  [
    'regex',
    /ten thousand rows/,
    withDialect({
      matches: (value, pattern) => sql`(${value})::text ~ ${pattern.replace('[78]', '7')}::text`,
    }),
  ],
  [
    'percentile',
    /ten thousand rows/,
    withDialect({
      percentile: (value, fraction, table) =>
        sql`(select percentile_cont(${fraction}::float8) within group (order by x) from (select ${value} as x from ${table} limit 1000) s)`,
    }),
  ],
  ['comparison', /first 60 bits/, withComparison({ checksum: text => sql`sum(hashtext(${text}))` })],
  ['comparison', /first digits/, withComparison({ slot: text => sql`abs(hashtext(${text})) % 4096` })],
  [
    'comparison',
    /empty one is not NULL/,
    withComparison({ text: value => sql`nullif((${value})::text, '')` }),
  ],
  ['comparison', /by their bytes/, withComparison({ bytes: text => sql`lower(${text})` })],
  ['comparison', /of two NULLs/, withComparison({ isSame: (one, other) => sql`${one} = ${other}` })],
  ['comparison', /finer than a second/, withComparison({ cutMoment: value => sql`(${value})::text` })],
]

function isPlain(value: Value): boolean {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
