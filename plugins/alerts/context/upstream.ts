import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { SEVERITIES, type Severity } from '../api.ts'
import type { Deps } from '../deps.ts'
import { readFlow } from '../incidents/grouping/flow.ts'
import { IS_OPEN, NOT_DEMO } from '../models.ts'

/** More failing tables are counted. */
const MAX_SHOWN_ALERTS = 5

interface UpstreamAlert {
  alertId: string
  title: string
  severity: Severity
  tableId: string
  qualifiedName: string
}

interface TableState extends Omit<UpstreamAlert, 'alertId'> {
  isWatched: boolean
  /** The worst open alert of the table, the oldest of several; null without one. */
  alertId: string | null
}

/** The tables from which a table is made, whether checks watch them, and their open alerts, the nearest first. */
export async function readUpstream({ lookUps }: Pick<Deps, 'lookUps'>, trx: Transaction, tableId: string) {
  const steps = (await readFlow(lookUps, trx, [tableId])).above(tableId)
  const stepsOf = (id: string) => steps.get(id) ?? 0
  const states = await rows<TableState>(trx, STATES, {
    companyId: companyOf(trx),
    ids: [...steps.keys()],
    order: SEVERITIES,
  })
  const failing = states
    .filter((state): state is TableState & UpstreamAlert => state.alertId !== null)
    .sort((a, b) => stepsOf(a.tableId) - stepsOf(b.tableId))
  return {
    table_count: states.length,
    unwatched_count: states.filter(({ isWatched }) => !isWatched).length,
    failing_count: failing.length,
    failing: failing.slice(0, MAX_SHOWN_ALERTS).map(alert => ({
      alert_id: alert.alertId,
      title: alert.title,
      severity: alert.severity,
      asset_id: alert.tableId,
      qualified_name: alert.qualifiedName,
      steps: stepsOf(alert.tableId),
    })),
  }
}

const STATES = `
  select t.id as table_id, t.qualified_name, a.id as alert_id, a.title, a.severity,
         exists (select from checks c
                  where c.company_id = :companyId and c.table_id = t.id and c.is_active) as is_watched
    from tables t
    left join lateral (
      select id, title, severity from alerts
       where company_id = :companyId and asset_id = t.id and ${IS_OPEN} and ${NOT_DEMO}
       order by array_position(cast(:order as text[]), severity) desc, created_at limit 1) a on true
   where t.company_id = :companyId and t.id = any(cast(:ids as uuid[])) and t.is_active
   order by t.qualified_name`
