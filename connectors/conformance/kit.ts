import assert from 'node:assert/strict'
import { lookup } from 'node:dns/promises'
import { realpath } from 'node:fs/promises'
import type { TableInfo, TableRef } from '../catalog.ts'
import type { Capability, Connection, ConnectOptions, Connector, Egress } from '../connector.ts'
import type { QueryOptions, Row, Value } from '../connector.ts'
import { ConnectorError, type ConnectorErrorKind } from '../errors.ts'
import type { Sql } from '../sql.ts'
import { fixtureTypes, type Fixture, type WrittenTable } from './fixture.ts'
import type { GroupReport } from './report.ts'

/** The part of a test that the kit uses; tap's `Test` and node:test's `TestContext` both have it. */
export interface ConformanceTest {
  // oxlint-disable-next-line typescript/no-explicit-any -- the callback's argument differs between test runners
  test(name: string, options: { skip?: string }, run: (t: any) => Promise<void>): Promise<unknown>
  /** Marks the test as having asserted something; tap counts assertions. */
  pass?(message: string): unknown
  comment?(message: string): unknown
}

/** Some promises of a connector that belong together. Basic when it needs no capability. */
export interface PromiseGroup {
  name: string
  needs?: Capability
  /** Whether a connector claims what the group holds it to, where that is no capability. Such a group is not basic. */
  isClaimed?(connector: Connector): boolean
  run(kit: ConformanceKit): Promise<void>
}

/** What a group works with. */
export interface ConformanceKit {
  connector: Connector
  /** As validated: what the server would store and pass to `connect`. */
  config: Record<string, unknown>
  /** As given by the caller. */
  rawConfig: Record<string, unknown>
  fixture: Fixture
  options: ConnectOptions
  /** What became of the groups so far; the last one is that which runs. */
  groups: GroupReport[]
  /** The test of the group that runs, of which promises are subtests. */
  test?: ConformanceTest
  /** Validates a configuration as the server does before it connects. */
  validate(config: Record<string, unknown>): Record<string, unknown>
  /** Opens a session for the length of a function, by default with the working configuration. */
  session<Result>(
    use: (connection: Connection) => Promise<Result>,
    config?: Record<string, unknown>,
  ): Promise<Result>
  /** Runs one statement in a session of its own. */
  query(statement: Sql): Promise<Row[]>
  /** The value in the only column of the only row of a statement, which runs in a session of its own. */
  value(statement: Sql): Promise<Value | undefined>
  /** Reads tables of the fixture in a session of its own. */
  introspect(...names: string[]): Promise<TableInfo[]>
  /** One promise: a subtest. */
  holds(promise: string, check: () => Promise<void>): Promise<void>
  /** One promise, tried in a session of its own. */
  holdsInSession(promise: string, check: (connection: Connection) => Promise<void>): Promise<void>
  /** One promise that is reported as skipped where there is a reason why it cannot be tried. */
  holdsUnless(reason: string | undefined, promise: string, check: () => Promise<void>): Promise<void>
  /** The text of quoted SQL without values, for `fixture.execute`. */
  text(fragment: Sql): string
  /** Runs one statement with the right to write, where the fixture runs any. */
  execute(text: string): Promise<void>
  /** Why there are no views, keys and comments; undefined where the fixture runs SQL. */
  withoutSql: string | undefined
  /** Makes a table. @param choice.asSelect not every engine takes expressions as values */
  write(table: WrittenTable, choice?: { asSelect?: boolean }): Promise<void>
  /** Creates a table of integers, and returns its quoted name. */
  createTable(name: string, ...columns: string[]): Promise<string>
  /** A fixture table as the catalog lists it. */
  ref(name: string): TableRef
  /** A quoted fixture table, by its name. */
  table(name: string): Sql
  /** A quoted column. */
  quote(name: string): Sql
}

/** Lets everything through: what may be dialled is the server's business, not the connector's. */
const openEgress: Egress = {
  async address(host) {
    return (await lookup(host)).address
  },
  file: path => realpath(path),
  folder: path => realpath(path),
}

/** Milliseconds that statements of the kit may take, well above what they need. */
export const STATEMENT_TIMEOUT_MS = 20_000

export function makeKit(
  connector: Connector,
  rawConfig: Record<string, unknown>,
  fixture: Fixture,
  egress: Egress = openEgress,
): ConformanceKit {
  const options: ConnectOptions = { egress, log: { debug: () => {}, warn: () => {} } }
  const validate = (config: Record<string, unknown>) => {
    const { value, error } = connector.config.validate(config)
    if (error) throw error
    return value as Record<string, unknown>
  }
  const config = validate(rawConfig)
  const ref = (name: string) => ({ catalog: fixture.catalog, schema: fixture.schema, name })
  const kit: ConformanceKit = {
    connector,
    config,
    rawConfig,
    fixture,
    options,
    groups: [],
    validate,
    async session(use, settings = config) {
      const connection = await connector.connect(settings, options)
      try {
        return await use(connection)
      } finally {
        await connection.close()
      }
    },
    query: statement => kit.session(connection => query(connection, statement)),
    value: statement => kit.session(connection => queryValue(connection, statement)),
    introspect: (...names) => kit.session(connection => connection.introspect({ tables: names.map(ref) })),
    holds: (promise, check) => kit.holdsUnless(undefined, promise, check),
    holdsInSession: (promise, check) => kit.holds(promise, () => kit.session(check)),
    async holdsUnless(reason, promise, check) {
      const group = kit.groups.at(-1)
      if (reason !== undefined) {
        group?.skipped.push({ promise, reason })
        await kit.test?.test(promise, { skip: reason }, async () => {})
        return
      }
      if (group) group.promises += 1
      await kit.test?.test(promise, {}, async (subtest: ConformanceTest) => {
        await check()
        if (group) group.passed += 1
        subtest.pass?.('it holds')
      })
    },
    text: fragment => {
      assert.equal(fragment.values.length, 0, 'a quoted name carries no values')
      return fragment.render(() => '?').text
    },
    async execute(text) {
      if (!fixture.execute) throw new Error('The fixture needs `execute` or `writeTable`')
      await fixture.execute(text)
    },
    withoutSql: fixture.writeTable ? 'the fixture runs no SQL' : undefined,
    async write(table, { asSelect = false } = {}) {
      if (fixture.writeTable) await fixture.writeTable(table)
      else for (const statement of writeStatements(kit, table, asSelect)) await kit.execute(statement)
    },
    async createTable(name, ...columns) {
      const { integer } = fixtureTypes(fixture)
      await kit.write({ name, columns: columns.map(column => ({ name: column, type: integer })), rows: [] })
      return kit.text(kit.table(name))
    },
    ref,
    table: name => connector.dialect.table(ref(name)),
    quote: name => connector.dialect.quote(name),
  }
  return kit
}

/** Statements take quoted names: an engine may fold those without quotes to upper case. */
function writeStatements(kit: ConformanceKit, { name, columns, rows }: WrittenTable, asSelect: boolean) {
  const table = kit.text(kit.table(name))
  const declared = columns.map(
    column =>
      `${kit.text(kit.quote(column.name))} ${column.type}${column.notNull ? ' not null' : ''}` +
      (column.default === undefined ? '' : ` default ${column.default}`),
  )
  const into = (those: readonly { name: string }[]) =>
    `insert into ${table} (${those.map(column => kit.text(kit.quote(column.name))).join(', ')})`
  /** Without its NULLs: in a select each would need the type of its column. */
  const insertSelect = (row: readonly string[]) => {
    const isGiven = (_: unknown, n: number) => row[n] !== 'null'
    return `${into(columns.filter(isGiven))} select ${row.filter(isGiven).join(', ')}`
  }
  const inserts = asSelect
    ? rows.map(insertSelect)
    : [`${into(columns)} values ${rows.map(row => `(${row.join(', ')})`).join(', ')}`]
  return [`create table ${table} (${declared.join(', ')})`, ...(rows.length > 0 ? inserts : [])]
}

/** Runs a statement whose time is not the matter. */
export function query(
  connection: Connection,
  statement: Sql,
  options?: Partial<QueryOptions>,
): Promise<Row[]> {
  return connection.query(statement, { timeoutMs: STATEMENT_TIMEOUT_MS, ...options })
}

/** The value in the only column of the only row of a statement. */
export async function queryValue(connection: Connection, statement: Sql): Promise<Value | undefined> {
  return singleValue(await query(connection, statement))
}

/** The value in the only column of the only row. */
export function singleValue(rows: Row[]): Value | undefined {
  assert.equal(rows.length, 1, 'one row')
  const values = Object.values(rows[0] ?? {})
  assert.equal(values.length, 1, 'one column')
  return values[0]
}

/**
 * Asserts that something is rejected with a `ConnectorError` of a kind, and within the kit's patience.
 * @returns the error
 */
export async function assertRejects(
  kinds: ConnectorErrorKind | readonly ConnectorErrorKind[] | undefined,
  doing: Promise<unknown>,
): Promise<ConnectorError> {
  const settled = doing.then(
    () => undefined,
    (error: unknown) => error ?? new Error('rejected with nothing'),
  )
  const thrown = await failIfHung(settled)
  assert.ok(thrown !== undefined, 'it was rejected')
  assert.ok(thrown instanceof ConnectorError, `rejected with a ConnectorError, not ${String(thrown)}`)
  const { kind, message } = thrown
  const wanted = typeof kinds === 'string' ? [kinds] : (kinds ?? [kind])
  assert.ok(wanted.includes(kind), `kind ${wanted.join(' or ')}, not ${kind}: ${message}`)
  assert.ok(message.length > 0 && message.length <= 1000, 'the message is a sentence')
  return thrown
}

/** A promise that must not hang. */
export async function failIfHung<Result>(doing: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>()
  const error = new assert.AssertionError({ message: `hung for ${STATEMENT_TIMEOUT_MS} ms` })
  const timer = setTimeout(() => late.reject(error), STATEMENT_TIMEOUT_MS)
  try {
    return await Promise.race([doing, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Waits until a number that the fixture counts is 0, for at most 5 seconds. */
export async function waitForZero(count: () => Promise<number>, what: string): Promise<void> {
  const deadline = Date.now() + 5000
  for (let left = await count(); left > 0; left = await count()) {
    assert.ok(Date.now() < deadline, `${what}: ${left}`)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}
