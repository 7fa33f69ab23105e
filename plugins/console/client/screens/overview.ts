import { useEffect, useMemo, useRef } from 'preact/hooks'
import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { countOf, formatAgo, formatHour, formatNumber, inWords } from '../lib/format.ts'
import { html, type Children } from '../lib/html.ts'
import { tableAddress, withQuery } from '../lib/router.ts'
import { canWrite } from '../lib/session.ts'
import { useSignal } from '../lib/signal.ts'
import { lastVisitOf } from '../lib/visits.ts'
import { openAlerts, useSession, useTitle } from '../parts/frame.ts'
import { Help } from '../parts/help.ts'
import { lazy } from '../parts/lazy.ts'
import { SourceTable, useSources } from '../parts/source-table.ts'
import { Empty, Loaded } from '../parts/states.ts'
import { Shape, toneOf, type Tone } from '../parts/status.ts'
import { texts } from '../texts.ts'
import { isLedThroughSetup, listSetupSteps } from './setup/setup-steps.ts'

const Checklist = lazy(async () => (await import('./setup/checklist.ts')).Checklist)

/** What is counted beside alerts changes slowly, and counting it takes the most of all polls. */
const POLL_MS = 5 * 60_000
const MAX_ITEMS = 8
const MAX_NUMBERS = 5

const loadSummary = async (since: string | undefined, signal: AbortSignal) =>
  (await api.get('/api/v1/sdk/health/summary', { query: { since }, signal })).data
type Summary = Awaited<ReturnType<typeof loadSummary>>

/** Whether the data is all right, and what to look at first. */
export function Overview() {
  const { user, preferences } = useSession()
  const since = useMemo(() => (user ? lastVisitOf(user.id) : null), [user?.id])
  const summary = useData(
    `summary ${since?.toISOString()}`,
    signal => loadSummary(since?.toISOString(), signal),
    { pollMs: user ? POLL_MS : 0 },
  )
  useReloadWithAlerts(summary.reload)
  const sources = useSources()
  const trend = useData('trend', async signal => {
    const query = { period: '24h' } as const
    return (await api.get('/api/v1/sdk/alerts/trends', { query, signal })).data
  })
  useTitle(texts.overview)
  const isLed = isLedThroughSetup(preferences) && summary.data && sources.data
  const steps = isLed ? listSetupSteps(summary.data!, sources.data!) : []
  const checklist = steps.some(({ isDone }) => !isDone) && html`<${Checklist} steps=${steps} />`
  if (sources.data?.length === 0) return html`<${FirstSource}>${checklist}<//>`
  return html`<div class="page">
    <${Loaded} of=${summary} what=${texts.overview.toLowerCase()} skeleton=${html`<${SummarySkeleton} />`}>
      ${(data: Summary) =>
        html`<${Headline} summary=${data} /><${Numbers} summary=${data} />
          <${SinceLastVisit} summary=${data} />`}
    <//>
    <div class="columns">
      <section>
        <h2>${texts.attentionList}</h2>
        <${Loaded} of=${summary} what=${texts.attentionList.toLowerCase()} rows=${8}>
          ${(data: Summary) => html`<${Attention} items=${data.needs_attention} />`}
        <//>
      </section>
      <section>
        <h2>${texts.last24Hours}<${Help} page="alerts#see-and-move-them" about=${texts.alerts} /></h2>
        <${Loaded} of=${trend} what=${texts.last24Hours.toLowerCase()} rows=${4}>
          ${(data: Trend) => html`<${Activity} trend=${data} />`}
        <//>
      </section>
    </div>
    <section>
      <h2>${texts.sources}</h2>
      <${Loaded} of=${sources} what=${texts.sources.toLowerCase()} rows=${3}>
        ${(data: readonly object[]) => html`<${SourceTable} sources=${data} />`}
      <//>
    </section>
    ${/* Last, since it comes with the data and must move nothing. */ checklist}
  </div>`
}

/** Reloads when the poll of the frame finds other alerts than before, so that new ones are seen as soon as it does. */
function useReloadWithAlerts(reload: () => void): void {
  const alerts = useSignal(openAlerts)
  const last = useRef(alerts)
  useEffect(() => {
    const isFirst = last.current === null
    if (alerts === last.current) return
    last.current = alerts
    if (!isFirst) reload()
  }, [alerts])
}

/** A new company is led to its first source. */
function FirstSource({ children }: { children: Children }) {
  return html`<div class="page">
    <${Empty} title=${texts.noSources} isScreen=${true}>
      <p>${texts.addSource}</p>
      <p>
        ${
          canWrite()
            ? html`<a class="button primary" href="/sources?add=">${texts.addASource}</a>`
            : html`<a class="button" href="/api/public/docs/getting-started.md#connect-your-own-database"
                >How to add a source</a
              >`
        }
      </p>
    <//>
    ${children}
  </div>`
}

/** As high as the headline and the numbers, so that what is below them does not move. */
function SummarySkeleton() {
  return html`<div class="skeleton headline" role="status" aria-label=${texts.loading}>
      <div class="title"></div>
    </div>
    <ul class="numbers" aria-hidden="true">
      ${Array.from({ length: MAX_NUMBERS }, (_, n) => html`<li key=${n}></li>`)}
    </ul>`
}

function Headline({ summary }: { summary: Summary }) {
  const { coverage, alerts, overall_status: status } = summary
  const { active_alerts: open, affected_tables: affected } = alerts
  return html`<div class="headline">
    <h1>
      <${Shape}
        tone=${status === 'healthy' && coverage.watched_tables < coverage.total_tables ? 'unknown' : toneOf(status)}
      />
      ${
        affected > 0
          ? texts.needAttention(affected, coverage.total_tables)
          : status === 'healthy'
            ? `Nothing is wrong: ${coverage.watched_tables.toLocaleString('en-GB')} of ${countOf(coverage.total_tables, 'table')} watched`
            : 'No alert is open, but something waits for you'
      }
    </h1>
    ${open > 0 && html`<a class="button primary" href="/alerts">${texts.triage(open)}</a>`}
  </div>`
}

function NumberTile({
  name,
  value,
  href,
  tone,
  help,
  children,
}: {
  name: string
  value: number | string
  href: string
  tone: Tone
  help: string
  children?: Children
}) {
  return html`<li>
    <span class="name">${name}<${Help} page=${help} about=${name} /></span>
    <a class="number" href=${href}
      ><${Shape} tone=${tone} />${typeof value === 'number' ? formatNumber(value) : value}</a
    >
    <span class="quiet">${children}</span>
  </li>`
}

/** The numbers of the company; each is a link to what it counts. */
function Numbers({
  summary: { alerts, freshness, checks, schema_drift: drift, coverage },
}: {
  summary: Summary
}) {
  const { critical, warning, info } = alerts.open_by_severity
  const bySeverity = { critical, warning, info }
  const share = coverage.total_tables === 0 ? 0 : (100 * coverage.watched_tables) / coverage.total_tables
  return html`<ul class="numbers">
    <${NumberTile}
      name="Open alerts"
      value=${alerts.active_alerts}
      href="/alerts"
      tone=${critical > 0 ? 'critical' : alerts.active_alerts > 0 ? 'warning' : 'ok'}
      help="alerts#see-and-move-them"
    >
      ${Object.entries(bySeverity)
        .filter(([, count]) => count > 0)
        .map(
          ([severity, count]) =>
            html`<a key=${severity} href=${withQuery('/alerts', { severity })}>${count} ${severity}</a> `,
        )}
    <//>
    ${
      freshness &&
      html`<${NumberTile}
        name="Stale tables"
        value=${freshness.stale}
        href=${withQuery('/catalog', { status: 'stale' })}
        tone=${freshness.stale > 0 ? 'critical' : freshness.fresh < coverage.total_tables ? 'unknown' : 'ok'}
        help="freshness#how-it-is-judged"
        >${texts.ofMonitored(freshness.total_tables)}<//
      >`
    }
    ${
      checks &&
      html`<${NumberTile}
        name="Failing checks"
        value=${checks.failing + checks.error}
        href=${withQuery('/checks', { status: 'failing,error', state: 'active' })}
        tone=${checks.failing + checks.error > 0 ? 'warning' : 'ok'}
        help="checks#all-checks-of-a-table-a-source-or-the-company"
        >${texts.ofChecks(checks.passing + checks.failing + checks.error)}<//
      >`
    }
    <${NumberTile}
      name="Changes to review"
      value=${drift.unacknowledged}
      href="/changes"
      tone=${drift.critical_count > 0 ? 'critical' : drift.unacknowledged > 0 ? 'warning' : 'ok'}
      help="drift#the-baseline-and-accepting"
      >${texts.highImpact(drift.critical_count)}<//
    >
    <${NumberTile}
      name="Watched tables"
      value=${`${Math.round(share)} %`}
      href="/catalog"
      tone=${share >= 100 ? 'ok' : 'info'}
      help="coverage#coverage"
      >${formatNumber(coverage.watched_tables)} ${texts.ofTables(coverage.total_tables)}<//
    >
  </ul>`
}

function SinceLastVisit({ summary: { since } }: { summary: Summary }) {
  if (!since) return null
  const parts = [
    since.alerts_opened > 0 &&
      html`<a href=${withQuery('/alerts', { since: since.at, tab: 'all' })}
        >${countOf(since.alerts_opened, 'alert opened', 'alerts opened')}</a
      >`,
    since.alerts_ended > 0 &&
      html`<span>${countOf(since.alerts_ended, 'alert ended', 'alerts ended')}</span>`,
    since.schema_changes > 0 &&
      html`<a href="/changes?tab=all">${countOf(since.schema_changes, 'schema change')}</a>`,
  ].filter(Boolean)
  if (parts.length === 0) return null
  return html`<p class="since">
    <strong>${texts.sinceLastVisit(formatAgo(since.at))}</strong
    >${parts.map((part, n) => [n > 0 && ', ', part])}
  </p>`
}

function Attention({ items }: { items: Summary['needs_attention'] }) {
  if (items.length === 0) return html`<p class="quiet"><${Shape} tone="ok" /> ${texts.nothingToDo}</p>`
  return html`<ul class="list">
    ${items.slice(0, MAX_ITEMS).map(
      item =>
        html`<li key=${`${item.type} ${item.alert_id ?? item.title}`}>
          <a href=${addressOf(item)}>
            <${Shape} tone=${toneOf(item.severity)} /><span class="hidden">${item.severity}</span>
            <span class="text"><bdi>${item.title}</bdi></span>
          </a>
        </li>`,
    )}
  </ul>`
}

function addressOf(item: Summary['needs_attention'][number]): string {
  const { type, asset_name: name, alert_id: alert } = item
  if (alert !== undefined) return `/alerts/${alert}`
  if (type === 'schema_drift') return withQuery('/changes', { source: name })
  return name === null ? '/alerts' : tableAddress(name, type === 'freshness' ? 'freshness' : '')
}

type Trend = Awaited<ReturnType<typeof api.get<'/api/v1/sdk/alerts/trends'>>>['data']

const BAR_HEIGHT = 64

/** Alerts that were opened in each of the last 24 hours, as bars; critical ones below. */
function Activity({ trend }: { trend: Trend }) {
  const hours = trend.trends
  const most = Math.max(1, ...hours.map(({ opened }) => opened))
  const height = (count: number) => (count / most) * BAR_HEIGHT
  return html`<figure class="activity">
    <svg
      viewBox=${`0 0 ${hours.length * 12} ${BAR_HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label=${texts.activityOf(trend.opened, trend.resolved + trend.dismissed)}
    >
      <line x1="0" x2=${hours.length * 12} y1=${BAR_HEIGHT - 0.5} y2=${BAR_HEIGHT - 0.5} />
      ${hours.map(({ timestamp, opened, opened_by_severity: by }, n) => {
        const parts = [
          ['critical', by.critical],
          ['warning', by.warning],
          ['info', by.info],
        ] as const
        let top = BAR_HEIGHT
        return parts.map(([tone, count]) => {
          if (count === 0) return null
          top -= height(count)
          return html`<rect
            key=${tone + n}
            class=${tone}
            x=${n * 12 + 1}
            y=${top}
            width="10"
            height=${height(count)}
          >
            <title>${formatHour(timestamp)}: ${opened} ${inWords('opened')}</title>
          </rect>`
        })
      })}
    </svg>
    <figcaption>
      <span>${hours[0] ? formatHour(hours[0].timestamp) : ''}</span>
      <span>${texts.activityOf(trend.opened, trend.resolved + trend.dismissed)}</span>
      <span>${formatHour(new Date())}</span>
    </figcaption>
  </figure>`
}
