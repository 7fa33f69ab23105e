/** What the demo is made with. */
import type { ServerInjectOptions, ServerInjectResponse } from '@hapi/hapi'
import type { Logger } from 'pino'
import type { Database } from '../../server/database/database.ts'
import type { Config } from '../../server/settings/config.ts'
import type { DemoAlerts } from '../alerts/api.ts'
import type { SimulatedService } from './receiver.ts'
import type { AuthApi } from '../auth/api.ts'
import type { CatalogApi } from '../catalog/api.ts'
import type { FreshnessApi } from '../freshness/api.ts'
import type { LineageApi } from '../lineage/api.ts'
import type { ChecksApi } from '../checks/api.ts'

export interface DemoDeps {
  db: Database
  config: Config
  pino: Logger
  /** Sends a request to the server's own routes. */
  inject(request: ServerInjectOptions): Promise<ServerInjectResponse>
  auth: AuthApi
  alerts: { demo: DemoAlerts }
  freshness: FreshnessApi
  /** Where the messages of demo destinations go. */
  service: SimulatedService
  catalog: CatalogApi
  lineage: LineageApi
  checks: ChecksApi
}
