import type { Server } from '@hapi/hapi'
import type { Database } from '../../server/database/database.ts'
import type { Jobs } from '../../server/jobs/jobs.ts'
import type { CatalogApi } from '../catalog/api.ts'
import type { ChecksApi } from '../checks/api.ts'
import type { FreshnessApi } from '../freshness/api.ts'
import type { MetricsApi } from '../metrics/api.ts'
import type { ProfilesApi } from '../profiles/api.ts'
import type { ReferentialApi } from '../referential/api.ts'
import type { ValidityApi } from '../validity/api.ts'

/** What recommendations use of the service and of the features below them. */
export interface RecommendationsDeps {
  db: Database
  jobs: Jobs
  catalog: CatalogApi
  checks: ChecksApi
  freshness: FreshnessApi
  metrics: MetricsApi
  profiles: ProfilesApi
  referential: ReferentialApi
  validity: ValidityApi
}

export function depsOf({ db, jobs, plugins }: Server): RecommendationsDeps {
  const { catalog, checks, freshness, metrics, profiles, referential, validity } = plugins
  return { db, jobs, catalog, checks, freshness, metrics, profiles, referential, validity }
}
