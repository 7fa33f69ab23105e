import type { Table } from 'tidemark/client'
import type { Check } from '../../parts/check-cells.tsx'
import { UpdateHistory } from './update-history.tsx'
import { Volume } from './volume.tsx'

/** How many rows a table had, and how long it waited for its updates: what most faults show in. */
export function HealthCharts({ table, checks }: { table: Table; checks: readonly Check[] }) {
  const volume = checks.find(({ kind, type }) => kind === 'metric' && type === 'row_count')
  const { schedule_id: schedule, checked_at: checkedAt, sla_threshold: threshold } = table.freshness
  return (
    <div class="columns health-charts">
      {volume && <Volume check={volume} />}
      {schedule !== null && <UpdateHistory tableId={table.id} checkedAt={checkedAt} threshold={threshold} />}
    </div>
  )
}
