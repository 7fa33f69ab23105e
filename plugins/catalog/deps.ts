/** What the catalog is made of, by name. */
import type { Logger } from 'pino'
import type { Connector, Egress } from '../../connectors/connector.ts'
import type { Database, Transaction } from '../../server/database/database.ts'
import type { Deadlines } from '../../server/deadlines.ts'
import type { Jobs } from '../../server/jobs/jobs.ts'
import type { Registry } from '../../server/registry.ts'
import type { Vault } from '../../server/security/vault.ts'
import type { Config } from '../../server/settings/config.ts'
import type { Telemetry } from '../../server/telemetry/telemetry.ts'
import type { AlertsApi } from '../alerts/api.ts'
import type { AssetExtension } from './assets/asset-extensions.ts'
import type { DiscoveryReader } from './discovery/reader.ts'
import type { Source } from './models.ts'

export type Connectors = Registry<Connector>

/** What sessions at sources are opened with. */
export interface SessionDeps {
  db: Database
  config: Config
  connectors: Connectors
  vault: Vault
  deadlines: Deadlines
  telemetry: Telemetry
  sourceEgress: Egress
  egressForFolder(folder: string): Egress
  pino: Logger
}

/** @param source as it is after the discovery */
export type DiscoveryListener = (trx: Transaction, source: Source) => Promise<void>

/** What other features have added to the catalog. */
export interface Additions {
  extensions: AssetExtension[]
  listeners: DiscoveryListener[]
  readers: DiscoveryReader[]
}

export interface CatalogDeps extends SessionDeps, Additions {
  jobs: Jobs
  alerts: AlertsApi
}
