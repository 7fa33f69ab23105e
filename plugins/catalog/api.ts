import type { AnyRequest } from '../../server/http/access.ts'
import type { ColumnInfo } from '../../connectors/catalog.ts'
import type { ResponseObject, ResponseToolkit } from '@hapi/hapi'
import type { Connection, Connector } from '../../connectors/connector.ts'
import type { TableInfo, TableRef } from '../../connectors/catalog.ts'
import type { Found, Readings, Transaction } from '../../server/database/database.ts'
import type { Asset } from './assets/assets.ts'
import type { TaggedTable } from './tags/personal-columns.ts'
import type { SessionOptions } from './sources/connections.ts'
import type { DiscoveryReader } from './discovery/reader.ts'
import type { DemoSources } from './demo.ts'
import type { DiscoveryListener } from './deps.ts'
import type { TableWindow } from '../../server/http/check-schemas.ts'
import type { Run, SchemaChange, Source, Table } from './models.ts'
import type {
  AssetExtension,
  CoverageQuery,
  HealthPart,
  OutcomeQuery,
  ProfiledTimes,
} from './assets/asset-extensions.ts'

export type { DiscoveredCatalog, DiscoveryReader } from './discovery/reader.ts'
export type { Asset } from './assets/assets.ts'
export type {
  AssetExtension,
  CoverageQuery,
  HealthPart,
  ProfiledTimes,
  TableFields,
} from './assets/asset-extensions.ts'
export type { SchemaChange, Source, Table } from './models.ts'
export type { SourceHealth, WatchedParts, WatchedState } from './assets/table-health.ts'
export type { SessionUse } from './sources/usage.ts'

/** What other features may read in SQL: sources and their tables, what they are tagged with, and how they changed. */
export const READABLE_TABLES = ['sources', 'tables', 'tags', 'schema_changes'] as const

/** A table of the catalog and its source. */
export interface TableContext {
  source: Source
  table: Table
}

/** What other features may ask of the catalog, as `server.plugins.catalog`. */
export interface CatalogApi {
  /** A source, or a table with its source, by UUID or qualified name. @throws 404 `ASSET_NOT_FOUND` */
  findAsset(trx: Transaction, assetId: string): Promise<Asset>
  /**
   * Reads what of the caller's company belongs to an asset, given by UUID or qualified name: by UUID with one wait for the database, or two
   * where nothing is found.
   * @param readings find no rows where nothing belongs to it
   * @throws 404 `ASSET_NOT_FOUND`
   */
  readByAsset<T extends object[]>(
    request: AnyRequest,
    assetId: string,
    readings: (id: string) => Readings<T>,
  ): Promise<Found<T>>
  /** A table of an asset by `catalog.schema.table`, or less where that is clear. @throws 400 listing candidates */
  findTable(trx: Transaction, asset: Asset, tablePath: string): Promise<Table>
  /** A recorded schema change. @throws 404 `CHANGE_NOT_FOUND` */
  findChange(trx: Transaction, changeId: string): Promise<SchemaChange>
  /**
   * A column of a table by its name.
   * @param field where the name was given
   * @throws 400 with the columns that there are, and those that are near
   */
  findColumn(table: Pick<Table, 'qualifiedName' | 'columns'>, name: string, field: string): ColumnInfo
  /** Compiles include and exclude patterns, as sources take them, to a predicate. @throws 400 for an invalid pattern */
  patternMatcher(body: {
    include_patterns?: readonly string[]
    exclude_patterns?: readonly string[]
  }): (table: TableRef) => boolean
  /** A table and its source by the table's id; undefined when gone. */
  loadTable(trx: Transaction, tableId: string): Promise<TableContext | undefined>
  /** Tables of the catalog by their ids; those that are gone are missing. */
  loadTables(trx: Transaction, tableIds: readonly string[]): Promise<Table[]>
  /**
   * The windows of checks of some tables that a person does not state one by one: as they are set, or as partitions propose
   * it from 10 million estimated rows on; without those that are to be read whole.
   */
  automaticWindows(trx: Transaction, tableIds: readonly string[]): Promise<Map<string, TableWindow>>
  /** The tables of a source that have a default window, by their paths. */
  windowedTables(trx: Transaction, sourceId: string): Promise<Map<string, TableWindow>>
  /** Sets the default window of a table; null removes it. */
  setTableWindow(trx: Transaction, tableId: string, window: TableWindow | null): Promise<void>
  /** @throws 400 `VALIDATION_ERROR` on the field of a default window that does not fit the table */
  assertTableWindow(of: TableContext, window: TableWindow): void
  /** The connector of a source. @throws 409 `CONFLICT` if no extension provides it any more */
  connectorOf(source: Pick<Source, 'sourceType'>): Connector
  /**
   * Opens a session, gives it to `work`, and closes it in any case. Waits while as many are open as the source's
   * `max_concurrency` allows. What it uses is stored with the source; scheduled work leaves one alone for a while that
   * cannot be reached, which is an error like those of dialling.
   * @throws ConnectorError, or 503 `UNAVAILABLE` while all sessions of the source are in use
   */
  withConnection<T>(
    source: Source,
    work: (connection: Connection) => Promise<T>,
    options: SessionOptions,
  ): Promise<T>
  /** 409 `CONFLICT`: a check of an inactive source is refused without connecting to it. */
  sourceInactive(source: Source): Error
  /** Milliseconds after which a statement at a source is ended there. */
  statementTimeoutMs(source: Source): number
  /**
   * The columns of a table that are tagged as personal data, by themselves, with the table, or with the source; of a view
   * also those that show such columns.
   */
  personalColumns(of: TaggedTable): ReadonlySet<string>
  /** The tags that concern some columns of a table, or none: theirs, the table's and the source's. */
  tagsOf(
    source: Pick<Source, 'tags'>,
    table: Pick<Table, 'tags' | 'columnTags'>,
    columns?: readonly (string | null | undefined)[],
  ): string[]
  /** Whether a source, or any of its tables, is or has such. */
  hasPersonalData(source: Source): Promise<boolean>
  /** The table as checks and connectors see it. */
  tableInfo(table: Table): TableInfo
  /**
   * Locks a source before rows of it are written; with `alone`, results of its tables are not recorded meanwhile.
   * @throws 404 `ASSET_NOT_FOUND`
   */
  lockSource(trx: Transaction, sourceId: string, options?: { alone?: boolean }): Promise<Source>
  /**
   * Locks a source and a table of it before results are recorded: a transaction that switches the source off or retires the
   * table waits, and then sees the alerts that were raised.
   * @param isSourceChanged whether the source itself is written: upgrading the lock later could deadlock
   * @returns whether each is active; undefined if one was removed
   */
  lockScannedTable(
    trx: Transaction,
    target: { source: Source; table: Table },
    isSourceChanged: boolean,
  ): Promise<{ isSourceActive: boolean; isTableActive: boolean } | undefined>
  /** Remembers whether a source could be reached; opens or closes its `connection_failed` alert. */
  recordConnectionStatus(trx: Transaction, source: Source, error: Error | null): Promise<void>
  /** Makes the record of asynchronous work that `GET /sdk/jobs/{job_id}` shows. */
  startRun(trx: Transaction, run: { workflowName: string; sourceId: string; assetId: string }): Promise<Run>
  /**
   * Answers a request that started a run: 202 with its job; or 200 with the finished job, where the caller sent
   * `Prefer: wait=N` and it ended in time.
   * @param what runs, as in "Discovery is pending"
   * @param more fields beside the job of an answer with 202
   */
  answerStarted(
    request: AnyRequest,
    h: ResponseToolkit,
    what: string,
    run: Run,
    more?: object,
  ): Promise<ResponseObject>
  /** Notes how far such work is. @returns false when it was cancelled meanwhile */
  recordProgress(trx: Transaction, runId: string, percent: number): Promise<boolean>
  /** Ends such work: with a result, or with an error. */
  finishRun(trx: Transaction, runId: string, end: { result: object } | { error: Error }): Promise<void>
  /** The source that a company tries the product with. */
  demo: DemoSources
  /**
   * Adds a function that is called in the transaction of each discovery, after the catalog and its changes were stored,
   * with the source locked.
   */
  afterDiscovery(listener: DiscoveryListener): void
  /** Calls these functions. */
  notifyDiscovered(trx: Transaction, source: Source): Promise<void>
  /** Adds a reader to each discovery. */
  readAtDiscovery(reader: DiscoveryReader): void
  /** Adds what a feature knows to the records of assets, and deletes it with them. */
  extendAssets(extension: AssetExtension): void
  /** What all features know of tables, by id: fields of their records as lists show them, `quality`, `freshness`. */
  readTableFields(trx: Transaction, tableIds: readonly string[]): Promise<Map<string, object>>
  /** The last outcomes of the checks of all features. */
  outcomeQueries(): OutcomeQuery[]
  /** The tables that the checks of all features watch, and those whose source is discovered on schedule. */
  coverageQueries(): CoverageQuery[]
  /**
   * What all features report of the health of the transaction's company.
   * @param since the time from which they count what happened
   */
  readHealth(trx: Transaction, since?: Date): Promise<HealthPart[]>
  /** What tables are made from, as SELECTs of `company_id`, `table_id` and `upstream_id`; none without lineage. */
  upstreamQueries(): string[]
  /** What the latest profiles of some tables found in columns with dates or times; none without profiles. */
  readProfiledTimes(trx: Transaction, tableIds: readonly string[]): Promise<Map<string, ProfiledTimes>>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    catalog: CatalogApi
  }
}
