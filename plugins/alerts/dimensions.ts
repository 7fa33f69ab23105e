/** What alerts are about, as overviews count them. */
export const DIMENSIONS = ['freshness', 'volume', 'schema', 'validity', 'contracts', 'pipelines'] as const
export type Dimension = (typeof DIMENSIONS)[number]

/** One of `SEVERITIES`, which `api.ts` has: it imports this file. */
type AlertSeverity = 'info' | 'warning' | 'critical'

/** What overviews cover. */
export interface OverviewScope {
  /** The first moment of each day, and that after the last. */
  starts: readonly Date[]
  /** A source with all its tables, or a table; null for the company. */
  assetId: string | null
}

export interface AlertOverview {
  /** Alerts that were opened, by day, counted from 1. */
  opened: { place: number; dimension: Dimension; severity: AlertSeverity; count: number }[]
  /** Triggered and acknowledged alerts by source; null for those of destinations. */
  open: { sourceId: string | null; dimension: Dimension; severity: AlertSeverity; count: number }[]
  /** Open and acknowledged incidents, the worst first; `totalIncidents` counts those beyond the last one, too. */
  incidents: WorstIncident[]
  totalIncidents: number
  /** Medians over the incidents that were opened, acknowledged or resolved within the days; null where there was none. */
  minutes: Record<'detect' | 'acknowledge' | 'resolve', number | null>
}

export interface WorstIncident {
  id: string
  title: string
  severity: AlertSeverity
  status: 'open' | 'acknowledged'
  alertCount: number
  createdAt: Date
  assignee: string | null
  causeAssetId: string | null
  /** Tables and sources with an alert. */
  assetIds: string[]
}
