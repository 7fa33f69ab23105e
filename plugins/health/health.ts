import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import type { AlertsApi } from '../alerts/api.ts'
import type { CatalogApi } from '../catalog/api.ts'

/** From best to worst. */
export const HEALTH_STATUSES = ['healthy', 'warning', 'critical'] as const
type HealthStatus = (typeof HEALTH_STATUSES)[number]

const MAX_ATTENTION_ITEMS = 50

interface HealthDeps {
  alerts: AlertsApi
  catalog: CatalogApi
}

/**
 * What alerts and all features report of the transaction's company: critical if anything critical needs attention,
 * warning if anything else does. A feature that is not loaded has no part.
 * @param since the time from which the reply counts what happened
 */
export async function summarizeHealth(
  { alerts, catalog }: HealthDeps,
  trx: Transaction,
  since: Date | undefined,
) {
  const own = await alerts.readHealth(trx, since)
  const parts = await catalog.readHealth(trx, since)
  const attention = [own, ...parts].flatMap(part => part.attention)
  const having = (severity: string) => attention.filter(item => item.severity === severity)
  const sorted = [...having('critical'), ...having('warning')]
  const status: HealthStatus = sorted[0]?.severity ?? 'healthy'
  return {
    overall_status: status,
    alerts: own.summary,
    ...Object.fromEntries(parts.map(({ name, summary }) => [name, summary])),
    coverage: await countCoverage(catalog, trx),
    since: since ? Object.assign({ at: since }, own.since, ...parts.map(part => part.since)) : null,
    needs_attention: sorted.slice(0, MAX_ATTENTION_ITEMS),
    generated_at: new Date(),
  }
}

/**
 * The tables of active sources, and those with an active check of their own. Discovery on schedule is none. Tables that
 * are gone have an index and are few; looking up those that are there would read the whole catalog.
 */
async function countCoverage(catalog: CatalogApi, trx: Transaction) {
  const queries = catalog.coverageQueries().filter(({ kind }) => kind !== 'schema_drift')
  const watched = queries.map(
    ({ text }) => `select c.table_id from (${text}) c
      join sources s on s.company_id = :companyId and s.id = c.source_id and s.is_active
      where c.company_id = :companyId`,
  )
  const [counts] = await rows<{ watched: number; total: number }>(
    trx,
    `select
       (select coalesce(cast(sum(table_count) as int), 0) from sources
         where company_id = :companyId and is_active) as total,
       ${
         watched.length === 0
           ? '0'
           : `(select cast(count(*) as int)
         from (${watched.join(' union ')}) c
         where not exists (select from tables t
           where t.company_id = :companyId and t.id = c.table_id and not t.is_active))`
       } as watched`,
    { companyId: companyOf(trx) },
  )
  return { watched_tables: counts?.watched ?? 0, total_tables: counts?.total ?? 0 }
}
