/** What the impact of changes is found with. */
import type { Database } from '../../server/database/database.ts'
import type { AlertsApi } from '../alerts/api.ts'
import type { CatalogApi } from '../catalog/api.ts'
import type { ContractsApi } from '../contracts/api.ts'
import type { LineageApi } from '../lineage/api.ts'
import type { OwnersApi } from '../owners/api.ts'
import type { ChecksApi } from '../checks/api.ts'

export interface ImpactDeps {
  db: Database
  alerts: AlertsApi
  catalog: CatalogApi
  owners: OwnersApi
  lineage: LineageApi
  checks: ChecksApi
  contracts: ContractsApi
}
