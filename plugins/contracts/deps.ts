import type { Server } from '@hapi/hapi'
import type { Database } from '../../server/database/database.ts'
import type { Jobs } from '../../server/jobs/jobs.ts'
import type { AlertsApi } from '../alerts/api.ts'
import type { BadgesApi } from '../badges/api.ts'
import type { CatalogApi } from '../catalog/api.ts'
import type { FreshnessApi } from '../freshness/api.ts'
import type { MetricsApi } from '../metrics/api.ts'
import type { RecommendationsApi } from '../recommendations/api.ts'
import type { ReferentialApi } from '../referential/api.ts'
import type { ChecksApi } from '../checks/api.ts'

/** What contracts use of the service and of the features below them. */
export interface ContractsDeps {
  db: Database
  jobs: Jobs
  /** Where the service is reached, for links to badges. */
  baseUrl: string
  alerts: AlertsApi
  badges: BadgesApi
  catalog: CatalogApi
  freshness: FreshnessApi
  metrics: MetricsApi
  recommendations: RecommendationsApi
  referential: ReferentialApi
  checks: ChecksApi
}

export function depsOf({ db, jobs, config: { baseUrl }, plugins }: Server): ContractsDeps {
  const { alerts, badges, catalog, freshness, metrics, recommendations, referential, checks } = plugins
  return {
    db,
    jobs,
    baseUrl,
    alerts,
    badges,
    catalog,
    freshness,
    metrics,
    recommendations,
    referential,
    checks,
  }
}
