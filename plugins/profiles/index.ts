import { feature } from '../../server/feature.ts'
import type { ProfilesApi } from './api.ts'
import { profileJob } from './job.ts'
import { profileAsset, resolveTarget } from './profile.ts'
import { routes } from './routes.ts'
import { readLatest } from './store.ts'

/** The latest profile of each table stays, however old it is. */
const HAS_NEWER = `exists (select from profiles newer where newer.table_id = profiles.table_id
  and (newer.profiled_at, newer.id) > (profiles.profiled_at, profiles.id))`

/** What the columns of tables hold: counts, extremes, quantiles, frequent values and patterns, with their history. */
export const profiles = feature<ProfilesApi>({
  name: 'profiles',
  needs: ['catalog', 'scans'],
  tags: {
    profiles: {
      title: 'Profiles',
      group: 'Monitoring',
      order: 112,
      description: 'What the columns of a table hold, and what changed since.',
      page: '/api/public/docs/profiles.md',
    },
  },
  api: server => ({
    latest: (trx, tableIds) => readLatest(server, trx, tableIds),
    resolveTarget: (trx, assetId, request) => resolveTarget(server, trx, assetId, request),
    profileAsset: (target, options) => profileAsset(server, target, options),
  }),
  retention: [
    {
      table: 'profiles',
      column: 'profiled_at',
      days: config => config.retentionResultsDays,
      where: HAS_NEWER,
    },
  ],
  jobs: [profileJob],
  routes,
})
