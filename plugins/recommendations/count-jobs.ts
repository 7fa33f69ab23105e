import Joi from 'joi'
import { rows } from '../../server/database/database.ts'
import { hasCode } from '../../server/http/errors.ts'
import type { Job } from '../../server/jobs/jobs.ts'
import { countTables, findUncounted, spreadChanges, TABLES_PER_COUNT } from './counts.ts'
import { depsOf } from './deps.ts'

const id = Joi.string().guid().required()

/** Counts the recommendations of the tables of a source that changed, some tables a transaction. */
export const countJob: Job<{ company_id: string; source_id: string }> = {
  name: 'recommendations.count',
  data: Joi.object({ company_id: id, source_id: id }),
  queue: { expireSeconds: 3_600 },
  concurrency: { isShared: true, local: 4, perGroup: 1 },
  async work({ company_id: companyId, source_id: sourceId }, { server, signal }) {
    const deps = depsOf(server)
    const { findAsset } = deps.catalog
    let counted = 0
    for (let isFirst = true; ; isFirst = false) {
      signal.throwIfAborted()
      const tableIds = await deps.db
        .company(companyId, async trx => {
          const { source } = await findAsset(trx, sourceId)
          if (isFirst) await spreadChanges(trx, source)
          const some = await findUncounted(trx, source, TABLES_PER_COUNT)
          if (some.length > 0) await countTables(deps, trx, source, some)
          return some
        })
        .catch((error: unknown) => {
          // The source was removed meanwhile.
          if (hasCode(error, 'ASSET_NOT_FOUND')) return []
          throw error
        })
      if (tableIds.length === 0) return { counted }
      counted += tableIds.length
    }
  },
}

/** Finds sources with tables that changed since they were counted. */
export const dispatchCounts: Job = {
  name: 'recommendations.dispatch',
  data: Joi.object({}),
  every: '*/5 * * * *',
  async work(_data, { server }) {
    return server.db.system(async trx => {
      const changed = await rows<{ companyId: string; sourceId: string }>(
        trx,
        'select distinct company_id, source_id from recommendation_changes',
      )
      for (const { companyId, sourceId } of changed) {
        const data = { company_id: companyId, source_id: sourceId }
        await server.jobs.send(countJob, data, { trx, group: sourceId, key: sourceId })
      }
      return { sources: changed.length }
    })
  },
}
