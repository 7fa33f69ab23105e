import type { Source } from 'tidemark/client'
import { useQuery } from '../lib/router.ts'
import { canWrite } from '../lib/session.ts'
import { useTitle } from '../parts/frame.tsx'
import { Help } from '../parts/help.tsx'
import { lazy } from '../parts/lazy.tsx'
import { ListTools } from '../parts/table/list-tools.tsx'
import { readSort } from '../parts/table/table-head.tsx'
import { SOURCE_COLUMNS, SourceTable, useSources } from '../parts/source-table.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { texts } from '../texts.ts'
import type { ScreenProps } from './props.ts'
import { SourcePage } from './source/source-page.tsx'

const NewSource = lazy(async () => (await import('./source/new-source.tsx')).NewSource)

/** The sources, or one of them, or the form that adds one. */
export function Sources({ name }: ScreenProps) {
  const [query] = useQuery()
  const added = query.get('add')
  if (name) return <SourcePage key={name} name={name} />
  return added === null ? <SourceList /> : <NewSource type={added} />
}

function SourceList() {
  const [query] = useQuery()
  const sources = useSources(readSort(query, ['name']))
  useTitle(texts.sources)
  return (
    <div class="page">
      <div class="headline">
        <h1>
          {texts.sources}
          <Help page="engines" about={texts.sources} />
        </h1>
        <ListTools
          list="sources"
          path="/sources"
          columns={SOURCE_COLUMNS}
          load={() => Promise.resolve({ rows: sources.data ?? [], total: sources.data?.length ?? 0 })}
        />
        {canWrite() && (
          <a class="button primary" href="/sources?add=">
            {texts.addASource}
          </a>
        )}
      </div>
      <Loaded of={sources} what={texts.sources.toLowerCase()} rows={4}>
        {(found: readonly Source[]) =>
          found.length === 0 ? (
            <Empty title={texts.noSources}>
              <p>{texts.addSource}</p>
            </Empty>
          ) : (
            <SourceTable sources={found} />
          )
        }
      </Loaded>
    </div>
  )
}
