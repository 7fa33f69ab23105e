import { feature } from '../../server/feature.ts'
import type { ProfilesApi } from './api.ts'
import { profileJob } from './job.ts'
import { knownRowsExtension } from './known-rows.ts'
import { profileAsset, resolveTarget } from './profile.ts'
import { readProfiledTimes } from './profiled-times.ts'
import { routes } from './routes.ts'
import { readLatest } from './store.ts'

/** The latest profile of each table stays, however old it is. */
const HAS_NEWER = `exists (select from profiles newer where newer.table_id = profiles.table_id
  and (newer.profiled_at, newer.id) > (profiles.profiled_at, profiles.id))`

/** What the columns of tables hold: counts, extremes, quantiles, frequent values and patterns, with their history. */
export const profiles = feature<ProfilesApi>({
  name: 'profiles',
  needs: ['catalog', 'checks'],
  tags: {
    profiles: {
      title: 'Profiles',
      group: 'Monitoring',
      order: 112,
      description: 'What the columns of a table hold, and what changed since.',
      page: '/guide/profiles',
    },
  },
  api: ({ db, config, plugins: { catalog } }) => ({
    latest: (trx, tableIds) => readLatest(catalog, trx, tableIds),
    resolveTarget: (trx, assetId, request) => resolveTarget(catalog, trx, assetId, request),
    profileAsset: (target, options) => profileAsset({ db, config, catalog }, target, options),
  }),
  setUp({ plugins: { catalog } }) {
    catalog.extendAssets({ ...knownRowsExtension, profiledTimes: readProfiledTimes })
  },
  retention: [
    {
      table: 'profiles',
      column: 'profiled_at',
      days: config => config.retentionResultsDays,
      where: HAS_NEWER,
    },
  ],
  jobs: [profileJob],
  routes: (_, { jobs, plugins: { catalog } }) => routes({ catalog, jobs }),
})
