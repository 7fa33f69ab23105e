import type Joi from 'joi'
import type { TableInfo, TableKind, TableRef } from './catalog.ts'
import type { Dialect } from './dialect.ts'
import type { DriverPackage } from './driver.ts'
import type { ConnectorError } from './errors.ts'
import type { Sql } from './sql.ts'

/** A capability of all tables, or of those for which a function returns true: files, and not the tables of a database. */
export type TableCapability = true | ((table: { kind: TableKind }) => boolean)

/** What an engine can do, false unless claimed. The conformance kit tests what is claimed. */
export interface Capabilities {
  /** The catalog lists primary keys, foreign keys and unique constraints. */
  constraints?: true
  /** The catalog has comments on tables and columns. */
  comments?: true
  /** The engine knows when the rows of a table last changed, and every change of rows moves that time; `true` is of kind `table`. */
  lastModified?: TableCapability
  /** The engine estimates row counts without reading rows. */
  estimates?: TableCapability
  /** `dialect.matches` searches with a regular expression. */
  regex?: true
  /** `dialect.percentile` gives the exact, interpolated percentile. */
  percentile?: true
  /** `dialect.percentile` is an aggregate, which in a SELECT with `group by` gives each group its own. */
  groupedPercentile?: true
  /** `dialect.parsesAsDate` decides whether a text is a real calendar date. */
  dateParsing?: true
  /** Sessions refuse to write, by the engine's own means. */
  readOnly?: true
  /** A running query is ended in the server when its signal aborts. */
  cancel?: true
  /** Columns have an identity that survives a rename. */
  renames?: true
  /** The engine estimates what a statement would read, without running it. */
  costEstimates?: true
  /** The estimate is a dry run, which plans nothing: the statement may hold SQL of users. */
  dryRuns?: true
  /** The engine refuses a statement that would read more than `ConnectOptions.maxBytesPerStatement`. */
  byteLimit?: true
  /** The engine lists the parts of a table, each with a version that every change of its rows moves. */
  partitions?: TableCapability
}

export type Capability = keyof Capabilities

/** Whether a capability is claimed of a table. */
export function canOf(capability: TableCapability | undefined, table: { kind: TableKind }): boolean {
  return typeof capability === 'function' ? capability(table) : capability === true
}

/**
 * A value as it arrives. The conformance kit tests each form:
 *
 * - integers within 2^53 as number, larger ones and decimals as string;
 * - floats as number; booleans as boolean;
 * - a timestamp as `Date`, read in UTC where it has no zone;
 * - a DATE as text, `YYYY-MM-DD`, which has no zone to be shifted by; a TIME as text, `HH:MM:SS` with its fraction;
 * - bytes as Uint8Array;
 * - JSON, and what else has parts, as the parsed value: an object, an array, a number, a text, a boolean or null.
 */
export type Value = string | number | boolean | Date | null | Uint8Array | object

export type Row = Record<string, Value>

/** One stage of a connection test. After a failed stage the later ones are `skipped`, and `tls` is without encryption. */
export interface Stage {
  name: 'reach' | 'tls' | 'sign_in' | 'read_catalog'
  status: 'passed' | 'failed' | 'skipped'
  /** Milliseconds; 0 when skipped. */
  latencyMs: number
  message: string
  /** Why it failed, for a failed stage. */
  error?: ConnectorError
}

/** Decides what a source may reach. Connectors ask it before they dial or open anything. */
export interface Egress {
  /**
   * Resolves a host that may be dialled.
   * @param database the database that is meant to be opened there. The server's own database is refused; where none
   *   is named, so are all databases beside it
   * @returns the address to dial, and the only one: the name may resolve to another the next time
   * @throws ConnectorError of kind `egress-refused`, or the resolver's error when the host does not resolve
   */
  address(host: string, port: number, database?: string): Promise<string>
  /**
   * The real path of a file that may be opened.
   * @throws ConnectorError of kind `egress-refused` or `missing-object`
   */
  file(path: string): Promise<string>
  /**
   * The real path of a folder whose files may be opened; a file in it that may be a link is still asked for by `file`.
   * @throws ConnectorError of kind `egress-refused` or `missing-object`
   */
  folder(path: string): Promise<string>
}

/** The part of a pino logger that connectors use. */
export interface ConnectorLog {
  debug(fields: object, message?: string): void
  warn(fields: object, message?: string): void
}

export interface ConnectOptions {
  egress: Egress
  log: ConnectorLog
  signal?: AbortSignal
  /** Milliseconds to reach the server and sign in; defaults to 10,000. */
  connectTimeoutMs?: number
  /**
   * Called when a statement has ended, also for those of the catalog and of a connection test; `makeSession` does so.
   * Callers count the statements of an engine that never calls it themselves.
   */
  onStatement?: (taken: StatementUsage) => void
  /**
   * Milliseconds that most statements of the session will be given. An engine whose sessions keep a limit starts
   * with this one, and spares the statement that would set it.
   */
  statementTimeoutMs?: number
  /** The most bytes that a statement of `query` may read; used by an engine that claims `byteLimit`. */
  maxBytesPerStatement?: number
}

/** What a statement took of the source. */
export interface StatementUsage {
  /** Statements that were sent for it: itself, and those that set limits for it. */
  statements: number
  /** Rows received, also those that were read and not kept. */
  rows: number
  /** Bytes received, as they were on the line; 0 where that is not known. */
  bytes: number
  /** Milliseconds from when it was sent until it had ended. */
  durationMs: number
  /** Why it failed. */
  error?: ConnectorError
}

export interface QueryOptions {
  /** Milliseconds after which the engine itself ends the statement. */
  timeoutMs: number
  /** Rows beyond this are not read. */
  maxRows?: number
  signal?: AbortSignal
}

/** Limits what `introspect` reads. */
export interface IntrospectScope {
  /** Absent means everything outside the engine's system schemas. */
  tables?: TableRef[]
  /** Ends the statement of the catalog that runs, as that of `query`; what was read until then is given up. */
  signal?: AbortSignal
}

/** A table that `introspect` shows with fewer columns or keys than were known of it. */
export interface ReducedTable extends TableRef {
  /** Names of known columns that are no longer shown; empty where only keys are missing. */
  missingColumns: string[]
}

/** The parts of a `ReducedTable` that may still be there. */
export interface HiddenParts {
  /** Those of `missingColumns` that are not known to be gone. */
  columns: string[]
  /** The catalog shows the role no foreign key of the table, whatever its columns are. */
  foreignKeys?: true
  /** Why they cannot be read. */
  reason: ConnectorError
}

/** A table that is a partition of another. */
export interface Partition {
  /** The partitioned table; of a partition of a partition, the outermost. */
  parent: TableRef
  /** The identity of the partition itself, where the engine has one. */
  identity?: string
}

/** What a statement would read, as the engine estimates it. Never a guess of ours: what is unknown is null. */
export interface CostEstimate {
  /** Rows of tables. */
  rows: number | null
  /** Bytes of tables as the engine keeps or bills them. */
  bytes: number | null
}

/** A part of a table that can be read alone. */
export interface TablePart {
  /** Identifies it within its table: its qualified name, or the id of the partition. */
  name: string
  /** Opaque. Equal only while no row, no column and no definition of the part has changed. */
  version: string
  /** What stands in FROM for the rows of this part alone. Its columns are named as those of the table. */
  from: Sql
  /** About how many rows it has, where the engine knows. */
  rows?: number
}

/** A view as `viewDefinitions` reports it. */
export interface ViewDefinition extends TableRef {
  /** Its query, or the statement that creates it, as the engine stores it; null where the role may not see it. */
  definition: string | null
}

/** An open session with a monitored database. Calls may overlap; the session runs them one by one. */
export interface Connection {
  /** Reads tables, columns and constraints with a fixed number of catalog queries, sorted, views as views. */
  introspect(scope?: IntrospectScope): Promise<TableInfo[]>
  /**
   * Finds the tables that may still exist although `introspect` no longer shows them, and why they cannot be read, by
   * `tablePath`; the others are gone, or outside the configuration. Present where the engine's catalog hides what the
   * role may not read, and hidden and dropped tables can be distinguished. Rejects with ConnectorError.
   */
  findHiddenTables?(tables: TableRef[]): Promise<Map<string, ConnectorError>>
  /**
   * The parts of tables that may still be there although `introspect` no longer shows them, by `tablePath`; tables
   * without such parts are left out. Present where rights on columns decide which columns or keys the catalog shows.
   * Sends no statement for an empty list, and for any other a number with an upper bound. Rejects with ConnectorError
   * when the engine gives no answer.
   */
  findHiddenParts?(tables: ReducedTable[]): Promise<Map<string, HiddenParts>>
  /**
   * Those of some tables that are partitions of another table now, by `tablePath`. Present where `introspect` shows no
   * partitions, and a table that it showed can become one.
   */
  findPartitions?(tables: TableRef[]): Promise<Map<string, Partition>>
  /**
   * The definitions of views and materialized views, with one statement (one for each location of data that the engine
   * keeps apart). Present where the engine's catalog has them. Rejects with ConnectorError.
   */
  viewDefinitions?(options?: Pick<IntrospectScope, 'signal'>): Promise<ViewDefinition[]>
  /**
   * Runs one statement. Rejects with ConnectorError, whose message quotes nothing of the rows; the connection stays usable
   * or is closed, never hung.
   */
  query(statement: Sql, options: QueryOptions): Promise<Row[]>
  /**
   * Resolves if the engine accepts a statement: it resolves every name and type and finds every error of syntax. Nothing
   * of the statement is run, and it is not planned either, since planning runs functions that are declared constant.
   * Absent where the engine has nothing of the kind. Rejects as `query` does.
   */
  validate?(statement: Sql, options: Omit<QueryOptions, 'maxRows'>): Promise<void>
  /**
   * When the rows of tables last changed, by `tablePath`, with as many statements for thousands of tables as for one;
   * present if and only if `lastModified` is claimed. Tables whose time is the same as before may be left unread: so only
   * tables of which the capability is claimed are included, no views. The time
   * may move without a change of rows, and late: newer rows may already be there. Rejects
   * with ConnectorError, of a kind in `CHECK_ERROR_KINDS` where only this is unknown.
   */
  lastModified?(tables: TableRef[]): Promise<Map<string, Date>>
  /** Row estimates by `tablePath`; present if and only if `estimates` is claimed. */
  estimates?(tables: TableRef[]): Promise<Map<string, number>>
  /**
   * What a statement would read, which is not run; present if and only if `costEstimates` is claimed. Partitions and blocks
   * that the engine would skip do not count. SQL of users is taken out before (see `userSql`) unless `dryRuns` is claimed.
   * Rejects as `query` does.
   */
  estimateCost?(statement: Sql, options: Omit<QueryOptions, 'maxRows'>): Promise<CostEstimate>
  /**
   * The parts of a table, the oldest first, which together have each of its rows once; present if and only if `partitions`
   * is claimed. Null where they are not known, or not to the caller: the table is then read whole, as is one whose parts may
   * change without a new version. A change that was committed before the call may move the version later, one that was
   * committed after it must. With one statement, or a fixed number.
   */
  listParts?(
    table: TableRef,
    options: Pick<QueryOptions, 'timeoutMs' | 'signal'>,
  ): Promise<TablePart[] | null>
  /** Ends the session; a second call does nothing. */
  close(): Promise<void>
}

/** An engine: how to reach it, how to read its catalog, how to write its SQL. */
export interface Connector<Config = Record<string, unknown>> {
  /** Stored on the source: `postgresql`. */
  name: string
  /** Shown to people: `PostgreSQL`. */
  label: string
  /**
   * The `connection_config`. Secrets are marked `.meta({ secret: true })`: encrypted and never echoed. What decides which
   * server receives them is marked `.meta({ address: true })`: a host, a port, an account, a certificate authority. What
   * protects them on the way is marked `.meta({ tls: true })`: a boolean, where false is weaker, or a string whose `valid`
   * values go from the weakest to the strongest. A caller who changes an address or weakens TLS must give the secrets
   * again, and so cannot have a stored secret sent to a server of their own.
   */
  config: Joi.ObjectSchema<Config>
  driver?: DriverPackage
  dialect: Dialect
  capabilities: Capabilities
  /** Definitions of views are in PostgreSQL's grammar, and so can be read to the columns. */
  viewGrammar?: 'postgresql'
  /** Every session speaks TLS, whatever the config says; absent where the config or the server decides. */
  isAlwaysEncrypted?: true
  /** Opens a session. Rejects with ConnectorError. */
  connect(config: Config, options: ConnectOptions): Promise<Connection>
  /** Tries the connection stage by stage; never rejects for a failure of the database. */
  test(config: Config, options: ConnectOptions): Promise<Stage[]>
}

/** The part of the server that an extension adds connectors to: `register(server: ExtensibleConnector)`. */
export interface ExtensibleConnector {
  connectors: { add<Config>(connector: Connector<Config>): void }
}
