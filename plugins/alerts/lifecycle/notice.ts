import Joi from 'joi'
import { companyOf, type Transaction } from '../../../server/database/database.ts'
import type { JobKind } from '../../../server/jobs/jobs.ts'
import type { Deps } from '../deps.ts'
import { isGrouped, type GroupedFields } from '../kinds.ts'

interface UpdateData {
  company_id: string
  alert_ids: string[]
}

/** Alerts of one job. */
const MAX_ALERTS = 1_000

/** Updates the incidents of alerts that were opened or changed their status. */
export const incidentsJob: JobKind<UpdateData> = {
  name: 'incidents.update',
  data: Joi.object<UpdateData>({
    company_id: Joi.string().uuid().required(),
    alert_ids: Joi.array().items(Joi.string().uuid()).max(MAX_ALERTS).required(),
  }),
  // One company's jobs wait for each other's lock, with a connection each.
  concurrency: { local: 4, perGroup: 1 },
  queue: { retries: 5, retryDelaySeconds: 1 },
}

/**
 * Has the incidents of alerts updated that were opened or changed their status: by jobs of their own, since transactions
 * that raise or end alerts hold locks of many kinds and may not wait for those of incidents.
 */
export async function noticeAlerts(
  { jobs, kinds, config }: Pick<Deps, 'jobs' | 'kinds' | 'config'>,
  trx: Transaction,
  alerts: readonly (GroupedFields & { id: string })[],
): Promise<void> {
  const ids = alerts.filter(alert => isGrouped(kinds, alert)).map(({ id }) => id)
  if (ids.length === 0) return
  const companyId = companyOf(trx)
  const items = Array.from({ length: Math.ceil(ids.length / MAX_ALERTS) }, (_, at) => ({
    data: { company_id: companyId, alert_ids: ids.slice(at * MAX_ALERTS, (at + 1) * MAX_ALERTS) },
    after: config.incidentDelaySeconds,
    group: companyId,
  }))
  await jobs.sendAll(incidentsJob, items, { trx })
}
