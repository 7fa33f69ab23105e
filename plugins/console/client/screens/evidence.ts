import { useState } from 'preact/hooks'
import type { Alert } from 'tidemark/client'
import { api } from '../lib/api.ts'
import { formatTime, inWords } from '../lib/format.ts'
import { html } from '../lib/html.ts'
import { tableAddress } from '../lib/router.ts'
import { canWrite } from '../lib/session.ts'
import { Help } from '../parts/help.ts'
import { SeriesChart } from '../parts/series-chart.ts'
import {
  hoursOf,
  loadFreshnessSeries,
  loadMetricSeries,
  loadReferentialSeries,
  loadRuleSeries,
} from '../parts/series.ts'
import { Failure } from '../parts/states.ts'
import { Status } from '../parts/status.ts'
import { texts } from '../texts.ts'

/** Fields of the details of alerts, of any kind. */
interface Details {
  metric_id?: string
  rule_id?: string
  check_id?: string
  metric_type?: string
  column_name?: string | null
  explanation?: string
  threshold?: number | null
  sla_threshold?: string | null
  last_updated?: string | null
  groups?: unknown[]
  changes?: { change_type: string; object_name: string; impact: string; column_name?: string | null }[]
}

/** What an alert rests on: the series with what was expected, or the changes. */
export function Evidence({ alert }: { alert: Alert }) {
  const details = alert.event.details as Details
  const { asset_id: table, rule_id } = alert
  const id = rule_id ?? ''
  if (alert.event_type === 'metric_anomaly')
    return html`<section>
      <h3>
        ${inWords(details.metric_type ?? '')} ${details.column_name}<${Help}
          page="detection#what-is-judged"
          about=${texts.expected}
        />
      </h3>
      ${details.explanation && html`<p>${details.explanation}</p>`}
      ${
        details.groups
          ? html`<p class="quiet">${texts.hasNoSeries}</p>`
          : html`<${SeriesChart}
              id=${`series ${id}`}
              title=${alert.rule_name}
              load=${(signal: AbortSignal) => loadMetricSeries({ table, id }, signal)}
            />`
      }
    </section>`
  if (alert.event_type === 'validity_failure')
    return html`<section>
        <h3>${alert.rule_name}<${Help} page="validity#run-it-and-look-back" about=${alert.rule_name} /></h3>
        <${SeriesChart}
          id=${`series ${id}`}
          title=${alert.rule_name}
          unit="%"
          threshold=${details.threshold}
          load=${(signal: AbortSignal) => loadRuleSeries({ table, id }, signal)}
        />
      </section>
      <${InvalidRows} table=${table} id=${id} />`
  if (alert.event_type === 'referential_failure')
    return html`<section>
      <h3>${alert.rule_name}<${Help} page="checks#referential-checks" about=${alert.rule_name} /></h3>
      <${SeriesChart}
        id=${`series ${id}`}
        title=${alert.rule_name}
        load=${(signal: AbortSignal) => loadReferentialSeries({ table, id }, signal)}
      />
    </section>`
  if (alert.event_type === 'freshness_violation')
    return html`<section>
      <h3>${texts.freshness}<${Help} page="freshness#how-it-is-judged" about=${texts.freshness} /></h3>
      <p>
        ${texts.lastUpdate}: ${formatTime(details.last_updated)}, ${texts.threshold.toLowerCase()}${' '}
        ${details.sla_threshold}
      </p>
      <${SeriesChart}
        id=${`freshness ${table}`}
        title=${texts.ageOverTime}
        unit="h"
        threshold=${hoursOf(details.sla_threshold ?? null)}
        load=${(signal: AbortSignal) => loadFreshnessSeries(table, signal)}
      />
    </section>`
  if (alert.event_type === 'schema_change') return html`<${ChangedParts} alert=${alert} details=${details} />`
  return html`<section><p>${alert.message}</p></section>`
}

function ChangedParts({ alert, details }: { alert: Alert; details: Details }) {
  return html`<section>
    <h3>${texts.changes}<${Help} page="drift#what-is-a-change" about=${texts.changes} /></h3>
    <ul class="timeline">
      ${(details.changes ?? []).map(
        change =>
          html`<li key=${change.change_type + change.object_name}>
            <${Status} status=${change.impact} /> ${inWords(change.change_type)}:
            <code>${change.object_name}</code>
          </li>`,
      )}
    </ul>
    <p><a href=${tableAddress(alert.qualified_name, 'changes')}>${texts.reviewChanges}</a></p>
  </section>`
}

interface Sample {
  row_id: unknown
  value: unknown
  is_hidden?: true
}

/** Invalid rows are not stored: the rule is checked again when someone asks for them. */
function InvalidRows({ table, id }: { table: string; id: string }) {
  const [samples, setSamples] = useState<readonly Sample[] | null>(null)
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  if (!canWrite()) return null
  const load = async () => {
    setBusy(true)
    setError(undefined)
    try {
      const { data } = await api.post('/api/v1/sdk/validity/{asset_id}/{rule_id}/check', {
        path: { asset_id: table, rule_id: id },
      })
      setSamples(data.invalid_samples.samples)
    } catch (error) {
      setError(error)
    }
    setBusy(false)
  }
  return html`<section>
    <h3>${texts.evidence}</h3>
    ${error !== undefined && html`<${Failure} what=${texts.evidence.toLowerCase()} error=${error} retry=${load} />`}
    ${
      samples === null
        ? html`<button onClick=${load} disabled=${isBusy}>
            ${isBusy ? texts.checking : texts.showInvalidRows}
          </button>`
        : html`<${SampleTable} samples=${samples} />`
    }
  </section>`
}

function SampleTable({ samples }: { samples: readonly Sample[] }) {
  if (samples.length === 0) return html`<p class="quiet">${texts.noSamples}</p>`
  return html`<table class="samples">
    <thead>
      <tr>
        <th scope="col">${texts.row}</th>
        <th scope="col">${texts.value}</th>
      </tr>
    </thead>
    <tbody>
      ${samples.map(
        ({ row_id: row, value, is_hidden }, n) =>
          html`<tr key=${n}>
            <td><code>${describeValue(row)}</code></td>
            <td>
              ${is_hidden ? html`<span class="quiet">${texts.hidden}</span>` : html`<code>${describeValue(value)}</code>`}
            </td>
          </tr>`,
      )}
    </tbody>
  </table>`
}

function describeValue(value: unknown): string {
  if (value === null) return 'NULL'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
