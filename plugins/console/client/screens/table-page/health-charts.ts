import type { Table } from 'tidemark/client'
import { html } from '../../lib/html.ts'
import type { Check } from '../../parts/check-cells.ts'
import { UpdateHistory } from './update-history.ts'
import { Volume } from './volume.ts'

/** How many rows a table had, and how long it waited for its updates: what most faults show in. */
export function HealthCharts({ table, checks }: { table: Table; checks: readonly Check[] }) {
  const volume = checks.find(({ kind, type }) => kind === 'metric' && type === 'row_count')
  const { schedule_id: schedule, checked_at: checkedAt, sla_threshold: threshold } = table.freshness
  return html`<div class="columns health-charts">
    ${volume && html`<${Volume} check=${volume} />`}
    ${
      schedule !== null &&
      html`<${UpdateHistory} tableId=${table.id} checkedAt=${checkedAt} threshold=${threshold} />`
    }
  </div>`
}
