import type { Table } from 'tidemark/client'
import { useState } from 'preact/hooks'
import { api, isMissing } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { countOf, formatNumber, inWords } from '../lib/format.ts'
import { html } from '../lib/html.ts'
import { navigate, sourceAddress, useQuery, withQuery } from '../lib/router.ts'
import { canWrite } from '../lib/session.ts'
import { useTitle } from '../parts/frame.ts'
import { lazy } from '../parts/lazy.ts'
import { Empty, Loaded } from '../parts/states.ts'
import { CheckCounts, Shape, Status } from '../parts/status.ts'
import { Tabs } from '../parts/tabs.ts'
import { Ago } from '../parts/time.ts'
import { costTexts } from './source/cost-texts.ts'
import { texts } from '../texts.ts'
import type { ScreenProps } from './props.ts'
import { ChangesTab } from './table-changes.ts'
import { ColumnsTab } from './table-columns.ts'
import { FreshnessTab } from './table-freshness.ts'
import { HealthTab } from './table-health.ts'

const LineageTab = lazy(async () => (await import('./lineage/lineage-tab.ts')).LineageTab)
const ProfileTab = lazy(async () => (await import('./profile/profile-tab.ts')).ProfileTab)
const SettingsTab = lazy(async () => (await import('./table-settings.ts')).SettingsTab)

const TABS = {
  health: { name: 'Health', part: HealthTab },
  columns: { name: texts.columns, part: ColumnsTab },
  profile: { name: 'Profile', part: ProfileTab },
  changes: { name: texts.changesShort, part: ChangesTab },
  freshness: { name: texts.freshness, part: FreshnessTab },
  lineage: { name: texts.tabLineage, part: LineageTab },
  settings: { name: texts.settings, part: SettingsTab },
}

/** Whether a table can be trusted, and why. */
export function TablePage({ name }: ScreenProps) {
  const [query] = useQuery()
  const asked = useData(name ? `table ${name}` : null, async signal => {
    const { data } = await api.get('/api/v1/sdk/assets/{asset_id}', { path: { asset_id: name }, signal })
    // Links of older messages may name a source.
    if (data.asset_type === 'source') navigate(sourceAddress(data.qualified_name), { replace: true })
    return data as Table
  })
  const table = asked.data?.quality ? asked.data : undefined
  useTitle(table?.name ?? name)
  if (!name || isMissing(asked.error))
    return html`<div class="page">
      <${Empty} title="There is no such table" isScreen=${true}
        ><p><a class="button" href="/catalog">${texts.catalog}</a></p><//
      >
    </div>`
  const tab = query.get('tab') as keyof typeof TABS | null
  const current = tab && Object.hasOwn(TABS, tab) ? tab : 'health'
  const counts = {
    columns: table?.column_count,
    health: table && table.quality.failing + table.quality.error,
  }
  return html`<div class="page">
    <${Loaded} of=${asked} what=${name} rows=${5}> ${() => table && html`<${Header} table=${table} />`} <//>
    <${Tabs}
      label=${name}
      current=${current}
      tabs=${Object.entries(TABS).map(([id, { name }]) => ({
        id,
        name,
        count: counts[id as keyof typeof counts],
      }))}
    />
    ${table && html`<${TABS[current].part} table=${table} reload=${asked.reload} />`}
  </div>`
}

const ShareDialog = lazy(async () => (await import('./table-share.ts')).ShareDialog)

function ShareButton({ table }: { table: Table }) {
  const [isOpen, setOpen] = useState(false)
  if (!canWrite()) return null
  return html`<p class="actions">
    <button onClick=${() => setOpen(true)}>Share</button>
    ${isOpen && html`<${ShareDialog} table=${table} close=${() => setOpen(false)} />`}
  </p>`
}

/** The answer in words, then what it rests on. */
function Header({ table }: { table: Table }) {
  const { quality, freshness, health, source, schema, tags, owners = [] } = table
  const failing = quality.failing + quality.error
  const critical = [
    table.absence && 'it is no longer in its source',
    table.read_error && 'it cannot be read',
    freshness.status === 'stale' && 'its data is stale',
    failing > 0 && countOf(failing, 'failing check'),
    table.schema_change_status === 'high' && texts.changesToReview,
  ].filter(Boolean)
  const isChanged = table.schema_change_status !== 'none'
  const problems = critical.length > 0 || !isChanged ? critical : [texts.changesToReview]
  const tone =
    critical.length > 0 ? 'critical' : isChanged ? 'warning' : health.status === 'fine' ? 'ok' : 'unknown'
  return html`<header class="table-header">
    <p class="path">
      <a href=${sourceAddress(source)}><bdi>${source}</bdi></a> ${'/ '}<a
        href=${withQuery('/catalog', { source, schema })}
        ><bdi>${schema}</bdi></a
      >
    </p>
    <h1>
      <${Shape} tone=${tone} />
      <bdi
        >${
          problems.length > 0
            ? `${table.name}: ${problems.join(', ')}`
            : health.status === 'fine'
              ? `${table.name} is fine`
              : `${table.name}: ${health.headline}`
        }</bdi
      >
    </h1>
    ${table.read_error && html`<p class="bad">${table.read_error.message}</p>`}
    ${table.description && html`<p><bdi>${table.description}</bdi></p>`}
    <dl class="facts">
      <div>
        <dt>${texts.checks}</dt>
        <dd><${CheckCounts} quality=${quality} /></dd>
      </div>
      <div>
        <dt>${texts.freshness}</dt>
        <dd>
          ${
            freshness.schedule_id === null
              ? html`<span class="quiet">${texts.notMonitored}</span>`
              : html`<${Status}
                    status=${freshness.status}
                    word=${texts.learningOf(freshness.learning)}
                  />${freshness.learning ? ', newest ' : ' '}${freshness.last_updated && html`<${Ago} at=${freshness.last_updated} />`}`
          }
        </dd>
      </div>
      <div>
        <dt>${texts.changes}</dt>
        <dd>
          ${
            table.schema_change_status === 'none'
              ? texts.none
              : html`<${Status}
                  status=${table.schema_change_status}
                  word=${`${table.schema_change_status} impact`}
                />`
          }
        </dd>
      </div>
      <div>
        <dt>${texts.type}</dt>
        <dd>${inWords(table.asset_type)}</dd>
      </div>
      <div>
        <dt>${texts.rows}</dt>
        <dd>${formatRows(table)}</dd>
      </div>
      ${
        table.last_scan &&
        html`<div>
          <dt>${costTexts.lastScan}</dt>
          <dd>
            <${Ago} at=${table.last_scan.at} />,${' '}
            ${costTexts.usedBy(table.last_scan)}${table.last_scan.parts && `, ${costTexts.partsRead(table.last_scan.parts)}`}
          </dd>
        </div>`
      }
      ${
        owners.length > 0 &&
        html`<div>
          <dt>Owners</dt>
          <dd><bdi>${owners.map(({ name }) => name).join(', ')}</bdi></dd>
        </div>`
      }
      ${
        tags.length > 0 &&
        html`<div>
          <dt>${texts.tags}</dt>
          <dd>
            ${tags.map(tag => html`<a key=${tag} class="chip" href=${withQuery('/catalog', { tag })}><bdi>${tag}</bdi></a> `)}
          </dd>
        </div>`
      }
    </dl>
    <${ShareButton} table=${table} />
  </header>`
}

/** The newest number of rows that is known, and where it is from. */
function formatRows({ known_rows: rows }: Table) {
  if (!rows) return '–'
  return html`${formatNumber(rows.count)}${' '}
    <span class="quiet">${texts.rowsFrom[rows.from]} ${rows.at && html`<${Ago} at=${rows.at} />`}</span>`
}
