import type { Server } from '@hapi/hapi'
import type { AlertsApi } from '../alerts/api.ts'
import type { CatalogApi } from '../catalog/api.ts'
import type { ChecksApi } from '../checks/api.ts'
import type { OperatingSchedulesApi } from '../operating-schedules/api.ts'

/** What freshness is made with. A function that needs little of it takes that part alone. */
export interface FreshnessDeps extends Pick<
  Server,
  'config' | 'connectors' | 'db' | 'jobs' | 'pino' | 'telemetry'
> {
  alerts: AlertsApi
  catalog: CatalogApi
  checks: ChecksApi
  operatingSchedules: OperatingSchedulesApi
}

/** What freshness takes from the server; the features that it uses are there. */
export function depsOf({ config, connectors, db, jobs, pino, telemetry, plugins }: Server): FreshnessDeps {
  const { alerts, catalog, checks, operatingSchedules } = plugins
  return { config, connectors, db, jobs, pino, telemetry, alerts, catalog, checks, operatingSchedules }
}
