import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { changeQuery, tableAddress, useQuery } from '../lib/router.ts'
import { changeColumns, ChangeList, markAccepted, type SchemaChange } from '../parts/change-list.tsx'
import { useSession, useTitle } from '../parts/frame.tsx'
import { Choice } from '../parts/filters.tsx'
import { Help } from '../parts/help.tsx'
import { pageSizeOf, Paging, readOffset, type PageOfList } from '../parts/paging.tsx'
import { ListTools } from '../parts/table/list-tools.tsx'
import { NameLink } from '../parts/table/name-link.tsx'
import { shortNames } from '../parts/table/short-name.ts'
import { Empty, Loaded } from '../parts/states.tsx'
import type { Column } from '../parts/table/data-table.tsx'
import { readSort } from '../parts/table/table-head.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { texts } from '../texts.ts'

const IMPACTS = ['high', 'medium', 'low'] as const

interface Changes {
  changes: SchemaChange[]
  pagination: PageOfList
}

/** Schema changes of all sources; those to review first. */
export function Changes() {
  const [query] = useQuery()
  const { preferences } = useSession()
  const isAll = query.get('tab') === 'all'
  const impact = IMPACTS.find(known => known === query.get('impact'))
  const filters = {
    ...(!isAll && { unacknowledged_only: true }),
    ...(impact && { impact }),
    ...(query.get('source') && { asset_id: query.get('source')! }),
    sort: readSort(query, ['impact', 'detected_at'])?.sort ?? ('impact' as const),
  }
  const page = { limit: pageSizeOf(preferences), offset: readOffset(query) }
  const load = async (page: { limit: number; offset: number }, signal: AbortSignal) => {
    const { data } = await api.get('/api/v1/sdk/schema/changes', { query: { ...filters, ...page }, signal })
    return { changes: data.data, pagination: data.pagination }
  }
  const list = useData<Changes>(`changes ${JSON.stringify([filters, page])}`, signal => load(page, signal))
  const accepted = (id: string) => markAccepted(list, id)
  const tableColumn = tableColumnOf(list.data?.changes ?? [])
  useTitle(texts.changes)
  return (
    <div class="page">
      <div class="headline">
        <h1>
          {!list.data || isAll ? texts.changes : texts.changesTitle(list.data.pagination.total)}
          <Help page="drift#the-baseline-and-accepting" about={texts.changes} />
        </h1>
        <ListTools
          list="changes"
          path="/changes"
          columns={changeColumns(null, accepted, tableColumn)}
          load={async (page: { limit: number; offset: number }, signal: AbortSignal) => {
            const { changes, pagination } = await load(page, signal)
            return { rows: changes, total: pagination.total }
          }}
        />
      </div>
      <div class="filters">
        <Tabs
          label={texts.status}
          current={isAll ? 'all' : 'open'}
          tabs={[
            { id: 'open', name: 'To review' },
            { id: 'all', name: texts.all },
          ]}
          filters={query}
        />
        <Choice
          name="impact"
          label={texts.risk}
          none="Any risk"
          options={IMPACTS.map(known => [known, known] as const)}
        />
        {query.has('source') && (
          <button class="chip" onClick={() => changeQuery({ source: null, offset: null })}>
            <bdi>{query.get('source')}</bdi> <span aria-hidden="true">×</span>
          </button>
        )}
      </div>
      <Loaded of={list} what={texts.changes.toLowerCase()} rows={8}>
        {({ changes, pagination }: Changes) =>
          changes.length === 0 ? (
            <Empty title={texts.noChanges}>
              <p>{texts.noChangesText}</p>
            </Empty>
          ) : (
            <>
              <ChangeList changes={changes} tableColumn={tableColumn} accepted={accepted} />
              <Paging pagination={pagination} />
            </>
          )
        }
      </Loaded>
    </div>
  )
}

function tableColumnOf(changes: readonly SchemaChange[]): Column<SchemaChange> {
  const short = shortNames(changes.map(change => change.qualified_name))
  return {
    label: texts.table,
    cell: ({ qualified_name: name }) => (
      <NameLink href={tableAddress(name, 'changes')} name={name} short={short.get(name)} />
    ),
  }
}
