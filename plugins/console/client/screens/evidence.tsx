import type { ComponentProps } from 'preact'
import type { Alert } from 'tidemark/client'
import { inWords } from '../lib/format.ts'
import { tableAddress } from '../lib/router.ts'
import { Help } from '../parts/help.tsx'
import { InvalidRows } from '../parts/invalid-rows.tsx'
import { lazy } from '../parts/lazy.tsx'
import { SeriesChart } from '../parts/series-chart.tsx'
import { loadMetricSeries, loadReferentialSeries, loadRuleSeries } from '../parts/series.ts'
import { Skeleton } from '../parts/states.tsx'
import { Severity } from '../parts/status.tsx'
import { texts } from '../texts.ts'

const ComparisonEvidence = lazy(
  async () => (await import('../checks/comparison-evidence.tsx')).ComparisonEvidence,
)
const UpdateGaps = lazy(
  async () => (await import('./table-page/update-history.tsx')).UpdateGaps,
  () => <Skeleton rows={4} />,
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
      <ChartSection
        alert={alert}
        heading="Values"
        help="detection#what-is-judged"
        about={texts.expected}
        id={`series ${id}`}
        title={alert.rule_name}
        {...(details.metric_type === 'row_count' && { unit: 'rows' })}
        load={details.groups ? undefined : page => loadMetricSeries({ table, id }, page)}
      />
    )
  if (alert.event_type === 'validity_failure')
    return (
      <ChartSection
        alert={alert}
        heading="Invalid rows"
        help="validity#run-it-and-look-back"
        about={alert.rule_name}
        id={`series ${id}`}
        title={alert.rule_name}
        unit="%"
        threshold={details.threshold}
        load={page => loadRuleSeries({ table, id }, page)}
      />
    )
  if (alert.event_type === 'referential_failure')
    return (
      <ChartSection
        alert={alert}
        heading="Rows without a match"
        help="checks#referential-checks"
        about={alert.rule_name}
        id={`series ${id}`}
        title={alert.rule_name}
        load={page => loadReferentialSeries({ table, id }, page)}
      />
    )
  if (alert.event_type === 'comparison_failure') return <ComparisonEvidence alert={alert} />
  if (alert.event_type === 'freshness_violation')
    return (
      <section class="update-history">
        <h3>
          {texts.freshness}
          <Help page="freshness#how-it-is-judged" about={texts.freshness} />
        </h3>
        <UpdateGaps
          tableId={table}
          checkedAt={alert.last_seen_at}
          threshold={details.sla_threshold ?? null}
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

/** The chart of what an alert is about, with the alert marked. @param props.load undefined where there is no one series */
function ChartSection({
  alert,
  heading,
  help,
  about,
  load,
  ...chart
}: {
  alert: Alert
  heading: string
  /** The section of the documentation, and what it is about. */
  help: string
  about: string
  load: ComponentProps<typeof SeriesChart>['load'] | undefined
} & Pick<ComponentProps<typeof SeriesChart>, 'id' | 'title' | 'unit' | 'threshold'>) {
  return (
    <section>
      <h3>
        {heading}
        <Help page={help} about={about} />
      </h3>
      {load ? (
        <SeriesChart {...chart} table={alert.asset_id} openedAt={alert.created_at} load={load} />
      ) : (
        <p class="quiet">Groups have their own series; the API lists them.</p>
      )}
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
            <Severity level={change.impact} word={texts.riskOf(change.impact)} />
          </li>
        ))}
      </ul>
      <p>
        <a href={tableAddress(alert.qualified_name, 'changes')}>Review the changes of the table</a>
      </p>
    </section>
  )
}
