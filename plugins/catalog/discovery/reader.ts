import type { TableInfo } from '../../../connectors/catalog.ts'
import type { Connection } from '../../../connectors/connector.ts'
import type { Transaction } from '../../../server/database/database.ts'
import type { Source } from '../models.ts'

/** What a discovery has read when its readers are called. */
export interface DiscoveredCatalog {
  source: Source
  /** The tables within the patterns of the source. */
  tables: readonly TableInfo[]
  /** Fingerprints of these tables, by `tablePath`. */
  prints: ReadonlyMap<string, string>
  signal: AbortSignal
}

/**
 * Reads more of a source while a discovery has a session with it. What fails of it is logged, and the discovery goes on.
 */
export interface DiscoveryReader {
  /** For the log: what is read. */
  name: string
  /** @returns what records it, which is called in the transaction of the discovery after the tables were stored */
  read(connection: Connection, found: DiscoveredCatalog): Promise<(trx: Transaction) => Promise<void>>
}
