import type { Source } from 'tidemark/client'
import { useAction } from '../../lib/action.ts'
import { api, isMissing } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { formatNumber } from '../../lib/format.ts'
import { html } from '../../lib/html.ts'
import { useQuery, withQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { DataTable, type Column } from '../../parts/table/data-table.ts'
import { useTitle } from '../../parts/frame.ts'
import { lazy } from '../../parts/lazy.ts'
import { notify, notifyOfJob } from '../../parts/notices.ts'
import { Empty, Loaded } from '../../parts/states.ts'
import { checksOf, freshnessOf } from '../../parts/source-table.ts'
import { Status } from '../../parts/status.ts'
import { Tabs } from '../../parts/tabs.ts'
import { Ago } from '../../parts/time.ts'
import { costTexts } from './cost-texts.ts'
import { sourceTexts } from './texts.ts'
import { texts } from '../../texts.ts'
import type { SourceTabProps } from './props.ts'

const WAIT_SECONDS = 15

const TABS = {
  overview: { name: 'Overview', part: OverviewTab },
  connection: {
    name: 'Connection',
    part: lazy(async () => (await import('./connection-tab.ts')).ConnectionTab),
  },
  tables: {
    name: sourceTexts.tabTables,
    part: lazy(async () => (await import('./tables-tab.ts')).TablesTab),
  },
  watch: {
    name: 'What to watch',
    part: lazy(async () => (await import('./watch-tab.ts')).WatchTab),
  },
  cost: {
    name: costTexts.tab,
    part: lazy(async () => (await import('./cost-tab.ts')).CostTab),
  },
}

/** A source: its state, and how it is set up. */
export function SourcePage({ name }: { name: string }) {
  const [query] = useQuery()
  const asked = useData(`source ${name}`, async signal => {
    const { data } = await api.get('/api/v1/sdk/assets/{asset_id}', { path: { asset_id: name }, signal })
    return data as Source
  })
  useTitle(asked.data?.name ?? name)
  if (isMissing(asked.error))
    return html`<div class="page"><${Empty} title="There is no such source" isScreen=${true} /></div>`
  const tab = query.get('tab') as keyof typeof TABS | null
  const current = tab && Object.hasOwn(TABS, tab) ? tab : 'overview'
  return html`<div class="page">
    <${Loaded} of=${asked} what=${name} rows=${8}>
      ${(source: Source) =>
        html`<header class="table-header">
            <p class="path"><a href="/sources">${texts.sources}</a> /</p>
            <h1><bdi>${source.name}</bdi></h1>
            ${source.description && html`<p><bdi>${source.description}</bdi></p>`}
          </header>
          <${Tabs}
            label=${name}
            current=${current}
            tabs=${Object.entries(TABS).map(([id, { name }]) => ({ id, name }))}
          />
          <${TABS[current].part} source=${source} reload=${asked.reload} />`}
    <//>
  </div>`
}

function OverviewTab({ source, reload }: SourceTabProps) {
  return html`<${Actions} source=${source} reload=${reload} />
    <${DataTable}
      label=${texts.status}
      className="facts-table"
      columns=${FACT_COLUMNS}
      rows=${factsOf(source)}
      keyOf=${([title]: Fact) => title}
    />
    <p class="facts">
      <span>${source.source_type}</span>
      <span>${formatNumber(source.table_count)} ${texts.tables.toLowerCase()}</span>
      <span>${texts.lastDiscovery}: <${Ago} at=${source.last_refresh_at} /></span>
      <a href=${withQuery('/catalog', { source: source.name })}>All tables of this source</a>
    </p>`
}

type Fact = [title: string, shown: { status: string; word?: string }, sentence: string]

const FACT_COLUMNS: Column<Fact>[] = [
  { isName: true, cell: ([title]) => title },
  { cell: ([, shown]) => html`<${Status} ...${shown} />` },
  { cell: ([, , sentence]) => sentence },
]

function factsOf(source: Source): Fact[] {
  return [
    [texts.connection, { status: source.connection_status }, source.connection_message],
    [texts.freshness, freshnessOf(source), source.freshness_message],
    [texts.checks, checksOf(source), source.health.headline],
    [texts.changes, { status: source.schema_change_status }, source.schema_change_summary],
    [texts.tags, { status: source.tags_status }, source.tags_message],
  ]
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
  if (!canWrite()) return null
  const isBusy = isDiscovering || isTesting
  return html`<p class="actions above">
    <button disabled=${isBusy} onClick=${discover}>${isDiscovering ? 'Discovering…' : texts.discover}</button>
    <button disabled=${isBusy} onClick=${test}>${texts.testConnection}</button>
  </p>`
}
