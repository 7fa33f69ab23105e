/** What lineage is made of, by name. */
import type { Logger } from 'pino'
import type { Database } from '../../server/database/database.ts'
import type { TextPool } from '../../server/text-pool/text-pool.ts'
import type { AlertsApi } from '../alerts/api.ts'
import type { CatalogApi } from '../catalog/api.ts'
import type { OwnersApi } from '../owners/api.ts'

export interface LineageDeps {
  db: Database
  textPool: TextPool
  pino: Logger
  alerts: AlertsApi
  catalog: CatalogApi
  owners: OwnersApi
}
