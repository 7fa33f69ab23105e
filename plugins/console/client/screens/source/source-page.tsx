import type { Source } from 'tidemark/client'
import { api, isMissing } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { useQuery } from '../../lib/router.ts'
import { useTitle } from '../../parts/frame.tsx'
import { lazy } from '../../parts/lazy.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { costTexts } from './cost-texts.ts'
import { sourceTexts } from './texts.ts'
import { texts } from '../../texts.ts'

const TABS = {
  overview: {
    name: 'Overview',
    part: lazy(async () => (await import('./overview-tab.tsx')).OverviewTab),
  },
  connection: {
    name: 'Connection',
    part: lazy(async () => (await import('./connection-tab.tsx')).ConnectionTab),
  },
  tables: {
    name: sourceTexts.tabTables,
    part: lazy(async () => (await import('./tables-tab.tsx')).TablesTab),
  },
  watch: {
    name: 'What to watch',
    part: lazy(async () => (await import('./watch-tab.tsx')).WatchTab),
  },
  cost: {
    name: costTexts.tab,
    part: lazy(async () => (await import('./cost-tab.tsx')).CostTab),
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
    return (
      <div class="page">
        <Empty title="There is no such source" isScreen={true} />
      </div>
    )
  const tab = query.get('tab') as keyof typeof TABS | null
  const current = tab && Object.hasOwn(TABS, tab) ? tab : 'overview'
  const { part: Part } = TABS[current]
  return (
    <div class="page">
      <Loaded of={asked} what={name} rows={8}>
        {(source: Source) => (
          <>
            <header class="table-header">
              <p class="path">
                <a href="/sources">{texts.sources}</a>
              </p>
              <h1>
                <bdi>{source.name}</bdi>
              </h1>
              {source.description && (
                <p>
                  <bdi>{source.description}</bdi>
                </p>
              )}
            </header>
            <Tabs
              label={name}
              current={current}
              tabs={Object.entries(TABS).map(([id, { name }]) => ({ id, name }))}
            />
            <Part source={source} reload={asked.reload} />
          </>
        )}
      </Loaded>
    </div>
  )
}
