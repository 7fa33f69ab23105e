import { api, isMissing } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { formatSpan, formatTime } from '../lib/format.ts'
import { html } from '../lib/html.ts'
import { Help } from '../parts/help.ts'
import { SeriesChart } from '../parts/series-chart.ts'
import { loadFreshnessSeries, readHours, type PageRequest } from '../parts/series.ts'
import { Empty, Loaded } from '../parts/states.ts'
import { Status } from '../parts/status.ts'
import { texts } from '../texts.ts'
import type { TabProps } from './props.ts'

const load = async (table: string, signal: AbortSignal) =>
  (await api.get('/api/v1/sdk/freshness/{asset_id}', { path: { asset_id: table }, signal })).data
type Reply = Awaited<ReturnType<typeof load>>
/** The reply of a source lists its tables. */
type Freshness = Extract<Reply, { sla_threshold: unknown }>

export function FreshnessTab({ table }: TabProps) {
  const asked = useData(
    `freshness of ${table.id}`,
    async signal => (await load(table.id, signal)) as Freshness,
  )
  if (isMissing(asked.error) || (asked.data && !asked.data.schedule_id))
    return html`<${Empty} title=${texts.noSchedule}>
      <p>
        <a class="button primary" href="/api/public/docs/freshness.md#watch-a-table"
          >${texts.howToAddFreshness}</a
        >
      </p>
    <//>`
  return html`<${Loaded} of=${asked} what=${texts.freshness.toLowerCase()} rows=${8}>
    ${(found: Freshness) =>
      html`<dl class="facts">
          <div>
            <dt>${texts.status}</dt>
            <dd><${Status} status=${found.status} /></dd>
          </div>
          <div>
            <dt>${texts.lastUpdate}</dt>
            <dd>
              ${formatTime(found.last_updated)}
              ${found.data_age_minutes !== null && html` (${formatSpan(found.data_age_minutes * 60)})`}
            </dd>
          </div>
          <div>
            <dt>${texts.threshold}<${Help} page="freshness#how-it-is-judged" about=${texts.threshold} /></dt>
            <dd>${found.sla_threshold ?? '–'}</dd>
          </div>
          <div>
            <dt>${texts.expectedNext}</dt>
            <dd>${formatTime(found.expected_next_update)}</dd>
          </div>
          <div>
            <dt>${texts.column}</dt>
            <dd><code>${found.timestamp_column ?? found.signal}</code></dd>
          </div>
          <div>
            <dt>${texts.checkedAt}</dt>
            <dd>${formatTime(found.checked_at)}</dd>
          </div>
        </dl>
        ${found.error_message && html`<p class="bad">${found.error_message}</p>`}
        <${SeriesChart}
          id=${`freshness ${table.id} ${found.checked_at}`}
          title=${texts.ageOverTime}
          unit="h"
          threshold=${readHours(found.sla_threshold)}
          load=${(page: PageRequest) => loadFreshnessSeries(table.id, page)}
        />`}
  <//>`
}
