import type { Table } from 'tidemark/client'
import { api, isMissing } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { navigate, sourceAddress, useQuery } from '../lib/router.ts'
import { useTitle } from '../parts/frame.tsx'
import { lazy } from '../parts/lazy.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { texts } from '../texts.ts'
import type { ScreenProps } from './props.ts'
import { HealthTab } from './table-health.tsx'
import { TableHeader } from './table-page/header.tsx'

const ChangesTab = lazy(async () => (await import('./table-changes.tsx')).ChangesTab)
const FreshnessTab = lazy(async () => (await import('./table-freshness.tsx')).FreshnessTab)
const LineageTab = lazy(async () => (await import('./lineage/lineage-tab.tsx')).LineageTab)
const ColumnsTab = lazy(async () => (await import('./profile/profile-tab.tsx')).ColumnsTab)
const SettingsTab = lazy(async () => (await import('./table-settings.tsx')).SettingsTab)

const TABS = {
  health: { name: 'Health', part: HealthTab },
  columns: { name: texts.columns, part: ColumnsTab },
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
    return (
      <div class="page">
        <Empty title="There is no such table" isScreen={true}>
          <p>
            <a class="button" href="/catalog">
              {texts.catalog}
            </a>
          </p>
        </Empty>
      </div>
    )
  // Columns and their profile were two tabs.
  const wanted = query.get('tab') === 'profile' ? 'columns' : query.get('tab')
  const tab = wanted as keyof typeof TABS | null
  const current = tab && Object.hasOwn(TABS, tab) ? tab : 'health'
  const { part: Part } = TABS[current]
  const counts = {
    columns: table?.column_count,
    health: table && table.quality.failing + table.quality.error,
  }
  return (
    <div class="page">
      <Loaded of={asked} what={name} rows={5}>
        {() => table && <TableHeader table={table} reload={asked.reload} />}
      </Loaded>
      {
        // Not before the header, whose height depends on what it says: they would move.
        table && (
          <>
            <Tabs
              label={name}
              current={current}
              tabs={Object.entries(TABS).map(([id, { name }]) => ({
                id,
                name,
                count: counts[id as keyof typeof counts],
              }))}
            />
            <Part table={table} reload={asked.reload} />
          </>
        )
      }
    </div>
  )
}
