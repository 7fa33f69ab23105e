import type { ComponentChildren } from 'preact'
import type { Source } from 'tidemark/client'
import { useAction } from '../../lib/action.ts'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { formatAgo, formatNumber } from '../../lib/format.ts'
import { sourceAddress, withQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { notify, notifyOfJob } from '../../parts/notices.tsx'
import { checksOf, freshnessOf } from '../../parts/source-table.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import { texts } from '../../texts.ts'
import { codeTexts } from '../code/texts.ts'
import { AlertBars } from '../overview/alert-bars.tsx'
import { ChangeLines } from '../overview/change-lines.tsx'
import { DIMENSIONS, loadOverview, type OverviewSource } from '../overview/data.ts'
import { OpenIncidents } from '../overview/open-incidents.tsx'
import { Quality } from '../overview/quality.tsx'
import { OpenPill, Watched } from '../overview/source-grid.tsx'
import { overviewTexts } from '../overview/texts.ts'
import type { SourceTabProps } from './props.ts'

const WAIT_SECONDS = 15
const COST_DAYS = 7

/** Both at once, so that nothing moves when the second one comes. */
async function load(source: string, signal: AbortSignal) {
  const path = { asset_id: source }
  const [overview, usage] = await Promise.all([
    loadOverview(signal, source),
    api.get('/api/v1/sdk/assets/{asset_id}/usage', { path, query: { days: COST_DAYS }, signal }),
  ])
  return { overview, usage: usage.data }
}
type Loading = Awaited<ReturnType<typeof load>>
type Usage = Loading['usage']

/** How a source does: its connection, what is open, how it was in the last days, and what it costs. */
export function OverviewTab({ source, reload }: SourceTabProps) {
  const asked = useData(`source overview ${source.id}`, signal => load(source.id, signal))
  const reloadBoth = () => {
    reload()
    asked.reload()
  }
  return (
    <>
      <Actions source={source} reload={reloadBoth} />
      <Loaded of={asked} what={source.name} rows={14}>
        {({ overview, usage }: Loading) => (
          <>
            <Facts source={source} open={overview.sources[0]} usage={usage} />
            <OpenIncidents overview={overview} source={source.name} />
            <div class="columns">
              <AlertBars overview={overview} source={source.name} />
              <Quality overview={overview} name={source.name} />
            </div>
            <ChangeLines changes={overview.changes} source={source.name} />
          </>
        )}
      </Loaded>
    </>
  )
}

interface FactProps {
  name: string
  children: ComponentChildren
}

function Fact({ name, children }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Facts({ source, open, usage }: { source: Source; open: OverviewSource | undefined; usage: Usage }) {
  const tab = (name: string) => withQuery(sourceAddress(source.name), { tab: name })
  const alerts = open && DIMENSIONS.filter(dimension => open.open[dimension].severity !== null)
  const next = source.next_discovery_at
  return (
    <dl class="source-facts">
      <Fact name={texts.connection}>
        <Status status={source.connection_status} />
        <span class="quiet">{source.connection_message}</span>
      </Fact>
      <Fact name={overviewTexts.discovery}>
        <span>{source.last_refresh_at ? <Ago at={source.last_refresh_at} /> : overviewTexts.never}</span>
        <span class="quiet">
          {next ? overviewTexts.nextDiscovery(formatAgo(next)) : overviewTexts.byHand}
        </span>
        {!next && <a href={tab('connection')}>{overviewTexts.schedule}</a>}
      </Fact>
      <Fact name={texts.freshness}>
        <Status {...freshnessOf(source)} />
        <span class="quiet">{source.freshness_message}</span>
      </Fact>
      <Fact name={texts.checks}>
        <Status {...checksOf(source)} />
        <span class="quiet">{source.data_quality_message}</span>
      </Fact>
      <Fact name={overviewTexts.openAlerts}>
        {open && alerts && alerts.length > 0 ? (
          <span class="pills">
            {alerts.map(dimension => (
              <span key={dimension}>
                {overviewTexts.dimensions[dimension]} <OpenPill source={open} dimension={dimension} />
              </span>
            ))}
          </span>
        ) : (
          <span>{overviewTexts.none}</span>
        )}
      </Fact>
      <Fact name={overviewTexts.coverage}>
        {open && <Watched source={open} />}
        <span class="quiet">{overviewTexts.freshnessWatched(source.health.watched)}</span>
      </Fact>
      <Fact name={overviewTexts.tablesByState}>
        <span class="pills">
          <a href={withQuery('/catalog', { source: source.name })}>
            {formatNumber(source.table_count)} in all
          </a>
          {open && (
            <a href={withQuery('/catalog', { source: source.name, status: 'alerts' })}>
              {overviewTexts.withAlerts(open.affected_tables)}
            </a>
          )}
          {(['failing', 'stale'] as const)
            .filter(status => [source.data_quality_status, source.freshness_status].includes(status))
            .map(status => (
              <a key={status} href={withQuery('/catalog', { source: source.name, status })}>
                {overviewTexts.those[status]}
              </a>
            ))}
        </span>
      </Fact>
      <Fact name={overviewTexts.cost}>
        <span>
          {overviewTexts.costOf(usage.total.statements / COST_DAYS, usage.total.seconds / COST_DAYS)}
        </span>
        <span class="quiet">
          <a href={tab('cost')}>{overviewTexts.costTab}</a>
        </span>
      </Fact>
    </dl>
  )
}

function Actions({ source, reload }: SourceTabProps) {
  const path = { asset_id: source.id }
  const [isDiscovering, discover] = useAction(texts.discover, async () => {
    const { data } = await api.post('/api/v1/sdk/assets/{asset_id}/discover', {
      path,
      headers: { prefer: `wait=${WAIT_SECONDS}` },
    })
    notifyOfJob(data, 'The discovery is done.')
    reload()
  })
  const [isTesting, test] = useAction(texts.testConnection, async () => {
    const { data } = await api.post('/api/v1/sdk/assets/{asset_id}/test-connection', { path })
    if (!data.success) throw new Error(data.error_message ?? '')
    notify(`The source answered in ${Math.round(data.latency_ms)} ms.`)
    reload()
  })
  const [isExporting, exportCode] = useAction(codeTexts.exportSource, async () => {
    const { downloadCode } = await import('../code/requests.ts')
    await downloadCode(source.name)
  })
  const isBusy = isDiscovering || isTesting
  return (
    <p class="actions above">
      {canWrite() && (
        <>
          <button disabled={isBusy} onClick={discover}>
            {isDiscovering ? 'Discovering…' : texts.discover}
          </button>
          <button disabled={isBusy} onClick={test}>
            {texts.testConnection}
          </button>
        </>
      )}
      <button disabled={isExporting} onClick={exportCode}>
        {codeTexts.exportSource}
      </button>
    </p>
  )
}
