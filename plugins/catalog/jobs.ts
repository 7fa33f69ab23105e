import Joi from 'joi'
import { claimDue } from '../../server/due.ts'
import type { Job } from '../../server/jobs.ts'
import { discover } from './discovery.ts'
import { Source } from './models.ts'
import { requestDiscovery } from './sources.ts'

/** Runs one discovery that was asked for. */
export const discoverJob: Job<{ company_id: string; run_id: string }> = {
  name: 'catalog.discover',
  data: Joi.object({ company_id: Joi.string().guid().required(), run_id: Joi.string().guid().required() }),
  queue: { expireSeconds: 3_600 },
  work: async (data, { server }) =>
    (await discover(server, data.company_id, data.run_id)) ?? { status: 'failed' },
}

/** Asks for the discoveries that are due. */
export const dispatchDiscoveries: Job = {
  name: 'catalog.dispatch',
  data: Joi.object({}),
  every: '* * * * *',
  async work(_data, { server }) {
    const due = await server.db.system(trx =>
      claimDue(trx, 'sources', { interval: 'discovery_interval', source: 'id' }),
    )
    for (const { companyId, sourceId } of due) {
      await server.db.company(companyId, async trx => {
        const source = await Source.query(trx).findById(sourceId)
        if (source) await requestDiscovery(server, trx, source)
      })
    }
    return { requested: due.length }
  },
}
