import { feature } from '../../server/feature.ts'
import type { ProfilesApi } from './api.ts'
import { profileJob, pruneJob } from './job.ts'
import { profileAsset, resolveTarget } from './profile.ts'
import { routes } from './routes.ts'
import { readLatest } from './store.ts'

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
  jobs: [profileJob, pruneJob],
  routes,
})
