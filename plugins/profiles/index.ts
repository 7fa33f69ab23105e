import type { Plugin } from '@hapi/hapi'
import type { ApiTag } from '../../server/openapi/tags.ts'
import type { ProfilesApi } from './api.ts'
import { profileJob, pruneJob } from './job.ts'
import { profileAsset, resolveTarget } from './profile.ts'
import { routes } from './routes.ts'
import { readLatest } from './store.ts'

/** What the columns of tables hold: counts, extremes, quantiles, frequent values and patterns, with their history. */
export const profiles: Plugin<undefined> = {
  name: 'profiles',
  dependencies: ['catalog', 'scans'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      profiles: {
        title: 'Profiles',
        group: 'Monitoring',
        order: 112,
        description: 'What the columns of a table hold, and what changed since.',
        page: '/api/public/docs/profiles.md',
      },
    } satisfies Record<string, ApiTag>)
    server.jobs.add(profileJob, pruneJob)
    server.route(routes)
    server.expose({
      latest: (trx, tableIds) => readLatest(server, trx, tableIds),
      resolveTarget: (trx, assetId, request) => resolveTarget(server, trx, assetId, request),
      profileAsset: (target, options) => profileAsset(server, target, options),
    } satisfies ProfilesApi)
  },
}
