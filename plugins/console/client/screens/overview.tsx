import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { countOf, formatAgo, formatNumber } from '../lib/format.ts'
import { tableAddress, withQuery } from '../lib/router.ts'
import { useSignal } from '../lib/signal.ts'
import { lastVisitOf } from '../lib/visits.ts'
import { FirstSource } from '../parts/first-source.tsx'
import { openAlerts, useSession, useTitle } from '../parts/frame.tsx'
import { Help } from '../parts/help.tsx'
import { lazy } from '../parts/lazy.tsx'
import { Loaded, Skeleton } from '../parts/states.tsx'
import { Shape, toneOf, type Tone } from '../parts/status.tsx'
import { texts } from '../texts.ts'
import { loadOverview, type OverviewData } from './overview/data.ts'
import { isLedThroughSetup, listSetupSteps } from './setup/setup-steps.ts'

const Checklist = lazy(async () => (await import('./setup/checklist.tsx')).Checklist)
const Sections = lazy(async () => (await import('./overview/sections.tsx')).Sections)

/** What is counted beside alerts changes slowly, and counting it takes the most of all polls. */
const POLL_MS = 5 * 60_000
const MAX_ITEMS = 8
const MAX_NUMBERS = 5

/** All at once, so that nothing moves when the last of it comes. */
async function load(since: string | undefined, signal: AbortSignal) {
  const [summary, overview] = await Promise.all([
    api.get('/api/v1/sdk/health/summary', { query: { since }, signal }),
    loadOverview(signal),
    Sections.preload(),
  ])
  return { summary: summary.data, overview }
}
type Loading = Awaited<ReturnType<typeof load>>
type Summary = Loading['summary']

/** Whether the data is all right, what to look at first, and how it was in the last days. */
export function Overview() {
  const { user } = useSession()
  const since = useMemo(() => (user ? lastVisitOf(user.id) : null), [user?.id])
  const asked = useData(`overview ${since?.toISOString()}`, signal => load(since?.toISOString(), signal), {
    pollMs: user ? POLL_MS : 0,
  })
  useReloadWithAlerts(asked.reload)
  useTitle(texts.overview)
  return (
    <div class="page">
      <Loaded of={asked} what={texts.overview.toLowerCase()} skeleton={<OverviewSkeleton />}>
        {(data: Loading) => <Content summary={data.summary} overview={data.overview} />}
      </Loaded>
    </div>
  )
}

function Content({ summary, overview }: { summary: Summary; overview: OverviewData }) {
  const { preferences } = useSession()
  const steps = isLedThroughSetup(preferences) ? listSetupSteps(summary, overview.sources) : []
  const checklist = steps.some(({ isDone }) => !isDone) && <Checklist steps={steps} />
  if (overview.sources.length === 0)
    return (
      <>
        <FirstSource text={texts.addSource} isScreen={true} />
        {checklist}
      </>
    )
  return (
    <>
      <Headline summary={summary} />
      <Numbers summary={summary} />
      <SinceLastVisit summary={summary} />
      <Sections
        overview={overview}
        attention={summary.needs_attention.length > 0 && <Attention items={summary.needs_attention} />}
      />
      {/* Last, since it comes with the data and must move nothing. */ checklist}
    </>
  )
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

/** As high as the screen, so that what is below it does not move. */
function OverviewSkeleton() {
  return (
    <>
      <div class="skeleton headline" role="status" aria-label={texts.loading}>
        <div class="title" />
      </div>
      <ul class="numbers" aria-hidden="true">
        {Array.from({ length: MAX_NUMBERS }, (_, n) => (
          <li key={n} />
        ))}
      </ul>
      <section aria-hidden="true">
        <Skeleton rows={14} />
      </section>
    </>
  )
}

function Headline({ summary }: { summary: Summary }) {
  const { coverage, alerts, overall_status: status } = summary
  const { active_alerts: open, affected_tables: affected } = alerts
  return (
    <div class="headline">
      <h1>
        <Shape
          tone={
            status === 'healthy' && coverage.watched_tables < coverage.total_tables
              ? 'unknown'
              : toneOf(status)
          }
        />
        {affected > 0
          ? texts.needAttention(affected, coverage.total_tables)
          : status === 'healthy'
            ? `Nothing is wrong: ${coverage.watched_tables.toLocaleString('en-GB')} of ${countOf(coverage.total_tables, 'table')} watched`
            : 'No alert is open, but something waits for you'}
      </h1>
      {open > 0 && (
        <a class="button primary" href="/alerts">
          {texts.triage(open)}
        </a>
      )}
    </div>
  )
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
  children?: ComponentChildren
}) {
  return (
    <li>
      <span class="name">
        {name}
        <Help page={help} about={name} />
      </span>
      <a class="number" href={href}>
        <Shape tone={tone} />
        {typeof value === 'number' ? formatNumber(value) : value}
      </a>
      <span class="quiet">{children}</span>
    </li>
  )
}

/** The numbers of the company; each is a link to what it counts. */
function Numbers({
  summary: { alerts, freshness, checks, schema_drift: drift, coverage },
}: {
  summary: Summary
}) {
  const { critical, warning, info } = alerts.open_by_severity
  const watchedOf = `${formatNumber(coverage.watched_tables)} ${texts.ofTables(coverage.total_tables)}`
  const bySeverity = { critical, warning, info }
  const share = coverage.total_tables === 0 ? 0 : (100 * coverage.watched_tables) / coverage.total_tables
  return (
    <ul class="numbers">
      <NumberTile
        name="Open alerts"
        value={alerts.active_alerts}
        href="/alerts"
        tone={critical > 0 ? 'critical' : alerts.active_alerts > 0 ? 'warning' : 'ok'}
        help="alerts#see-and-move-them"
      >
        {Object.entries(bySeverity)
          .filter(([, count]) => count > 0)
          .map(([severity, count]) => (
            <>
              <a key={severity} href={withQuery('/alerts', { severity })}>
                {count} {severity}
              </a>{' '}
            </>
          ))}
      </NumberTile>
      {freshness && (
        <NumberTile
          name="Stale tables"
          value={freshness.stale}
          href={withQuery('/catalog', { status: 'stale' })}
          tone={freshness.stale > 0 ? 'critical' : freshness.fresh < coverage.total_tables ? 'unknown' : 'ok'}
          help="freshness#how-it-is-judged"
        >
          {texts.ofMonitored(freshness.total_tables)}
        </NumberTile>
      )}
      {checks && (
        <NumberTile
          name="Failing checks"
          value={checks.failing + checks.error}
          href={withQuery('/checks', { status: 'failing,error', state: 'active' })}
          tone={checks.failing + checks.error > 0 ? 'warning' : 'ok'}
          help="checks#all-checks-of-a-table-a-source-or-the-company"
        >
          {texts.ofChecks(checks.passing + checks.failing + checks.error)}
        </NumberTile>
      )}
      <NumberTile
        name="Changes to review"
        value={drift.unacknowledged}
        href="/changes"
        tone={drift.critical_count > 0 ? 'critical' : drift.unacknowledged > 0 ? 'warning' : 'ok'}
        help="drift#the-baseline-and-accepting"
      >
        {texts.highRisk(drift.critical_count)}
      </NumberTile>
      <NumberTile
        name="Watched tables"
        value={`${Math.round(share)} %`}
        href="/catalog"
        tone={share >= 100 ? 'ok' : 'info'}
        help="coverage#coverage"
      >
        {watchedOf}
        {coverage.watched_tables < coverage.total_tables && (
          <>
            .{' '}
            <a href={withQuery('/catalog', { status: 'unchecked' })}>
              {texts.watchOthers(coverage.total_tables - coverage.watched_tables)}
            </a>
          </>
        )}
      </NumberTile>
    </ul>
  )
}

function SinceLastVisit({ summary: { since } }: { summary: Summary }) {
  if (!since) return null
  const parts = [
    since.alerts_opened > 0 && (
      <a href={withQuery('/alerts', { since: since.at, tab: 'all' })}>
        {countOf(since.alerts_opened, 'alert opened', 'alerts opened')}
      </a>
    ),
    since.alerts_ended > 0 && <span>{countOf(since.alerts_ended, 'alert ended', 'alerts ended')}</span>,
    since.schema_changes > 0 && (
      <a href="/changes?tab=all">{countOf(since.schema_changes, 'schema change')}</a>
    ),
  ].filter(Boolean)
  if (parts.length === 0) return null
  return (
    <p class="since">
      <strong>{texts.sinceLastVisit(formatAgo(since.at))}</strong>
      {parts.map((part, n) => [n > 0 && ', ', part])}
    </p>
  )
}

/** What is wrong, the worst first. */
function Attention({ items }: { items: Summary['needs_attention'] }) {
  return (
    <ul class="list">
      {items.slice(0, MAX_ITEMS).map(item => (
        <li key={`${item.type} ${item.alert_id ?? item.title}`}>
          <a href={addressOf(item)}>
            <Shape tone={toneOf(item.severity)} />
            <span class="hidden">{item.severity}</span>
            <span class="text">
              <bdi>{item.title}</bdi>
            </span>
          </a>
        </li>
      ))}
    </ul>
  )
}

function addressOf(item: Summary['needs_attention'][number]): string {
  const { type, asset_name: name, alert_id: alert } = item
  if (alert !== undefined) return `/alerts/${alert}`
  if (type === 'schema_drift') return withQuery('/changes', { source: name })
  return name === null ? '/alerts' : tableAddress(name, type === 'freshness' ? 'freshness' : '')
}
