import { companyOf, rows, type Transaction } from '../../../../server/database/database.ts'
import type { Deps } from '../../deps.ts'
import { readAlertHealth } from '../../lifecycle/health.ts'
import { IS_ACTIVE } from '../models.ts'

const DAY_MS = 86_400_000
const MAX_LISTED = 10

interface IncidentLine {
  id: string
  title: string
  severity: string
  status: string
  alertCount: number
  createdAt: Date
}

/** What one should know today: incidents that go on, what happened since yesterday, and how the data is. */
export async function briefToday({ kinds, lookUps, config }: Deps, trx: Transaction) {
  const now = new Date()
  const since = new Date(now.getTime() - DAY_MS)
  const active = await rows<IncidentLine & { total: number }>(
    trx,
    `select id, title, severity, status, alert_count, created_at, count(*) over ()::int as total from incidents
      where company_id = :companyId and ${IS_ACTIVE}
      order by array_position(array['critical', 'warning', 'info'], severity), created_at desc limit ${MAX_LISTED}`,
    { companyId: companyOf(trx) },
  )
  const [moved] = await rows<{ opened: number; ended: number; causes: number }>(
    trx,
    `select count(*) filter (where created_at >= :since)::int as opened,
            count(*) filter (where resolved_at >= :since)::int as ended,
            count(distinct cause ->> 'asset_id') filter (where created_at >= :since)::int as causes
       from incidents where company_id = :companyId and merged_into is null
        and (created_at >= :since or resolved_at >= :since)`,
    { companyId: companyOf(trx), since },
  )
  const health = await readAlertHealth(trx, kinds, since)
  const parts = (await lookUps.assets?.readHealth(trx, since)) ?? []
  const attention = [health, ...parts].flatMap(part => part.attention)
  const { opened = 0, ended = 0, causes = 0 } = moved ?? {}
  const total = active[0]?.total ?? 0
  const critical = active.filter(({ severity }) => severity === 'critical').length
  return {
    title: `Data health on ${now.toISOString().slice(0, 10)}`,
    generated_at: now,
    summary: summarize(total, critical),
    sections: [
      {
        title: 'Incidents that go on',
        items: active.map(({ id, title, severity, status, alertCount }) => ({
          text: `${title} (${alertCount === 1 ? '1 alert' : `${alertCount} alerts`}, ${status})`,
          severity,
          incident_id: id,
          url: `${config.baseUrl}/incidents/${id}`,
        })),
      },
      {
        title: 'Since yesterday',
        items: [
          { text: `${opened} incidents were opened, ${ended} ended` },
          { text: `${health.since.alerts_opened} alerts were opened, ${health.since.alerts_ended} ended` },
          ...parts.flatMap(({ since: counts }) =>
            Object.entries(counts ?? {}).map(([name, count]) => ({
              text: `${count} ${name.replaceAll('_', ' ')}`,
            })),
          ),
        ],
      },
      {
        title: 'Needs attention',
        items: attention
          .slice(0, MAX_LISTED)
          .map(({ title, severity, asset_id: assetId }) => ({ text: title, severity, asset_id: assetId })),
      },
    ],
    insights: insightsOf({ opened, causes, alerts: health.since.alerts_opened }),
  }
}

function summarize(active: number, critical: number): string {
  if (active === 0) return 'No incident is open'
  const incidents = active === 1 ? '1 incident goes on' : `${active} incidents go on`
  return critical > 0 ? `${incidents}; ${critical} critical` : incidents
}

function insightsOf({
  opened,
  causes,
  alerts,
}: {
  opened: number
  causes: number
  alerts: number
}): string[] {
  return [
    ...(opened > 0 && alerts > opened ? [`${alerts} alerts of a day came from ${opened} incidents`] : []),
    ...(causes > 0 && causes < opened
      ? [`${opened} incidents of a day have ${causes} tables as their causes`]
      : []),
  ]
}
