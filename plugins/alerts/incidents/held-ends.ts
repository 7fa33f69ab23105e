import { rows } from '../../../server/database/database.ts'
import { sweepCompanies } from '../delivery/sweep-companies.ts'
import type { Deps } from '../deps.ts'
import { lockIncidents } from '../locks.ts'
import { notifyIncidents } from '../rules/notify-incidents.ts'
import { summaryOf } from './grouping/store.ts'
import { Incident } from './models.ts'

/** Per sweep. */
const MAX_DUE = 1_000

const REASON = 'It recovered, and did not fail again'

/**
 * Sends the messages about the ends of incidents that came and went, once these have been over for the window.
 * @returns the number of incidents
 */
export async function sendHeldEnds(deps: Deps, log: Pick<Deps['log'], 'error'>): Promise<number> {
  const due = await deps.db.system(trx =>
    rows<{ id: string; companyId: string }>(
      trx,
      'select id, company_id from incidents where end_held_until <= now() order by end_held_until limit :most',
      { most: MAX_DUE },
    ),
  )
  return sweepCompanies(log, 'send ends of incidents', due, (companyId, incidents) =>
    deps.db.company(companyId, async trx => {
      await lockIncidents(trx)
      // One that failed again meanwhile goes on.
      const ended = await Incident.query(trx)
        .findByIds(incidents.map(({ id }) => id))
        .whereRaw('end_held_until <= now()')
        .patch({ endHeldUntil: null })
        .returning('*')
      const news = ended.map(incident => ({ incident: summaryOf(incident), reason: REASON }))
      await notifyIncidents(deps, trx, { joined: [], changed: [], ended: news })
      return ended.length
    }),
  )
}
