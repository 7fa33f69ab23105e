import type { Alert } from 'tidemark/client'
import { inWords } from '../lib/format.ts'
import { tableAddress } from '../lib/router.ts'
import { Help } from '../parts/help.tsx'
import { InvalidRows } from '../parts/invalid-rows.tsx'
import { lazy } from '../parts/lazy.tsx'
import { SeriesChart } from '../parts/series-chart.tsx'
import {
  type PageRequest,
  readHours,
  loadFreshnessSeries,
  loadMetricSeries,
  loadReferentialSeries,
  loadRuleSeries,
} from '../parts/series.ts'
import { Status } from '../parts/status.tsx'
import { texts } from '../texts.ts'

const ComparisonEvidence = lazy(
  async () => (await import('../checks/comparison-evidence.tsx')).ComparisonEvidence,
)

/** Fields of the details of alerts, of any kind. */
interface Details {
  metric_id?: string
  rule_id?: string
  check_id?: string
  metric_type?: string
  column_name?: string | null
  threshold?: number | null
  sla_threshold?: string | null
  groups?: unknown[]
  changes?: { change_type: string; object_name: string; impact: string; column_name?: string | null }[]
}

/** What an alert rests on: the series with what was expected, or the changes. */
export function Evidence({ alert }: { alert: Alert }) {
  const details = alert.event.details as Details
  const { asset_id: table, rule_id } = alert
  const id = rule_id ?? ''
  if (alert.event_type === 'metric_anomaly')
    return (
      <section>
        <h3>
          {inWords(details.metric_type ?? '')} {details.column_name}
          <Help page="detection#what-is-judged" about={texts.expected} />
        </h3>
        {details.groups ? (
          <p class="quiet">Groups have their own series; the API lists them.</p>
        ) : (
          <SeriesChart
            table={table}
            id={`series ${id}`}
            openedAt={alert.created_at}
            title={alert.rule_name}
            load={(page: PageRequest) => loadMetricSeries({ table, id }, page)}
          />
        )}
      </section>
    )
  if (alert.event_type === 'validity_failure')
    return (
      <section>
        <h3>
          {alert.rule_name}
          <Help page="validity#run-it-and-look-back" about={alert.rule_name} />
        </h3>
        <SeriesChart
          table={table}
          id={`series ${id}`}
          openedAt={alert.created_at}
          title={alert.rule_name}
          unit="%"
          threshold={details.threshold}
          load={(page: PageRequest) => loadRuleSeries({ table, id }, page)}
        />
      </section>
    )
  if (alert.event_type === 'referential_failure')
    return (
      <section>
        <h3>
          {alert.rule_name}
          <Help page="checks#referential-checks" about={alert.rule_name} />
        </h3>
        <SeriesChart
          table={table}
          id={`series ${id}`}
          openedAt={alert.created_at}
          title={alert.rule_name}
          load={(page: PageRequest) => loadReferentialSeries({ table, id }, page)}
        />
      </section>
    )
  if (alert.event_type === 'comparison_failure') return <ComparisonEvidence alert={alert} />
  if (alert.event_type === 'freshness_violation')
    return (
      <section>
        <h3>
          {texts.freshness}
          <Help page="freshness#how-it-is-judged" about={texts.freshness} />
        </h3>
        <SeriesChart
          table={table}
          id={`freshness ${table}`}
          openedAt={alert.created_at}
          title={texts.ageOverTime}
          unit="h"
          threshold={readHours(details.sla_threshold ?? null)}
          load={(page: PageRequest) => loadFreshnessSeries(table, page)}
        />
      </section>
    )
  if (alert.event_type === 'schema_change') return <ChangedParts alert={alert} details={details} />
  return (
    <section>
      <p>{alert.message}</p>
    </section>
  )
}

/** Rows are asked of the source when a person wants them. */
export function RowsOf({ alert }: { alert: Alert }) {
  const { asset_id: table, rule_id: id } = alert
  return alert.event_type === 'validity_failure' && id !== null ? <InvalidRows table={table} id={id} /> : null
}

function ChangedParts({ alert, details }: { alert: Alert; details: Details }) {
  return (
    <section>
      <h3>
        {texts.changes}
        <Help page="drift#what-is-a-change" about={texts.changes} />
      </h3>
      <ul class="timeline">
        {(details.changes ?? []).map(change => (
          <li key={change.change_type + change.object_name}>
            <span>
              {inWords(change.change_type)}: <code>{change.object_name}</code>
            </span>
            <Status status={change.impact} word={texts.riskOf(change.impact)} />
          </li>
        ))}
      </ul>
      <p>
        <a href={tableAddress(alert.qualified_name, 'changes')}>Review the changes of the table</a>
      </p>
    </section>
  )
}
