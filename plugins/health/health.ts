import type { Server } from '@hapi/hapi'
import type { Transaction } from '../../server/database/database.ts'

/** From best to worst. */
export const HEALTH_STATUSES = ['healthy', 'warning', 'critical'] as const
type HealthStatus = (typeof HEALTH_STATUSES)[number]

const MAX_ATTENTION_ITEMS = 50

/**
 * What alerts and all features report of the transaction's company: critical if anything critical needs attention,
 * warning if anything else does. A feature that is not loaded has no part.
 */
export async function summarizeHealth({ plugins }: Server, trx: Transaction): Promise<object> {
  const alerts = await plugins.alerts.readHealth(trx)
  const parts = await plugins.catalog.readHealth(trx)
  const attention = [alerts, ...parts].flatMap(part => part.attention)
  const having = (severity: string) => attention.filter(item => item.severity === severity)
  const sorted = [...having('critical'), ...having('warning')]
  const status: HealthStatus = sorted[0]?.severity ?? 'healthy'
  return {
    overall_status: status,
    alerts: alerts.summary,
    ...Object.fromEntries(parts.map(({ name, summary }) => [name, summary])),
    needs_attention: sorted.slice(0, MAX_ATTENTION_ITEMS),
    generated_at: new Date(),
  }
}
