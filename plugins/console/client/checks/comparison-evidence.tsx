import { useState } from 'preact/hooks'
import type { Alert, ComparisonExecution } from 'tidemark/client'
import { useAction } from '../lib/action.ts'
import { canWrite } from '../lib/session.ts'
import { Help } from '../parts/help.tsx'
import { SeriesChart } from '../parts/series-chart.tsx'
import { type PageRequest, loadComparisonSeries } from '../parts/series.ts'
import { ComparisonOutcome } from './comparison-result.tsx'
import { comparisonTexts } from './comparison-texts.ts'
import { runCheck } from './requests.ts'

/** What an alert about a comparison rests on: the newest result, the rows that differ after a new run, and the chart. */
export function ComparisonEvidence({ alert }: { alert: Alert }) {
  const { asset_id: table, qualified_name: name, rule_name: title } = alert
  const id = alert.rule_id ?? ''
  const { table_path: path } = alert.event.details as { table_path: string }
  const [run, setRun] = useState<ComparisonExecution>()
  const [isRunning, compare] = useAction(comparisonTexts.compareNow, async () =>
    setRun((await runCheck(table, id)).comparison),
  )
  return (
    <section>
      <h3>
        {title}
        <Help page="checks#comparisons" about={title} />
      </h3>
      <ComparisonOutcome
        table={{ id: table, source: name.slice(0, -path.length - 1) }}
        check={{ id, last_checked_at: alert.last_seen_at }}
        run={run}
      />
      {canWrite() && (
        <button onClick={compare} disabled={isRunning}>
          {isRunning ? comparisonTexts.comparing : comparisonTexts.compareNow}
        </button>
      )}
      <SeriesChart
        table={table}
        id={`series ${id} ${run?.checked_at}`}
        title={title}
        load={(page: PageRequest) => loadComparisonSeries({ table, id }, page)}
      />
    </section>
  )
}
