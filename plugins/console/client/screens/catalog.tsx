import type { Table } from 'tidemark/client'
import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { countOf, formatNumber, inWords } from '../lib/format.ts'
import { changeQuery, navigate, tableAddress, useQuery } from '../lib/router.ts'
import { DataTable, type Column } from '../parts/table/data-table.tsx'
import { useSession, useTitle } from '../parts/frame.tsx'
import { Choice, SearchField } from '../parts/filters.tsx'
import { Help } from '../parts/help.tsx'
import { pageSizeOf, readOffset, type PageOfList } from '../parts/paging.tsx'
import { readSort } from '../parts/table/table-head.tsx'
import { ListTools } from '../parts/table/list-tools.tsx'
import { useRows } from '../parts/table/use-rows.ts'
import { useSources } from '../parts/source-table.tsx'
import { NameLink } from '../parts/table/name-link.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { CheckCounts, Severity, Status } from '../parts/status.tsx'
import { Ago } from '../parts/time.tsx'
import { texts } from '../texts.ts'

const KINDS = ['table', 'view', 'materialized_view', 'external_table'] as const

/** Columns that are shown below the tables. */
const MAX_COLUMNS = 20

/** What a person looks for, as a query of the API. */
const STATUSES = {
  failing: { quality_status: ['failing', 'error'] },
  stale: { freshness_status: ['stale'] },
  alerts: { has_open_alerts: true },
  unchecked: { quality_status: ['none'] },
} as const
type TableStatus = keyof typeof STATUSES

interface TableList {
  tables: Table[]
  pagination: PageOfList
}

type ColumnMatch = Awaited<ReturnType<typeof api.get<'/api/v1/sdk/search'>>>['data']['columns'][number]

const readStatus = (query: URLSearchParams): TableStatus | undefined =>
  (Object.keys(STATUSES) as TableStatus[]).find(known => known === query.get('status'))

/** All tables, searched and filtered by what stands in the address. */
export function Catalog() {
  const [query] = useQuery()
  const { preferences } = useSession()
  const limit = pageSizeOf(preferences)
  const status = readStatus(query)
  const filters = {
    ...(status && (STATUSES[status] as { quality_status?: ('failing' | 'error' | 'none')[] })),
    ...(readSort(query, ['name', 'status']) ?? { sort: 'status' as const }),
    asset_type: KINDS.filter(kind => !query.has('kind') || query.get('kind') === kind),
    ...(query.get('search') && { search: query.get('search')! }),
    ...(query.get('source') && { source: query.get('source')! }),
    ...(query.get('schema') && { schema: [query.get('schema')!] }),
    ...(query.get('tag') && { tag: [query.get('tag')!] }),
  }
  const offset = readOffset(query)
  const key = `tables ${JSON.stringify(filters)} ${limit} ${offset}`
  const load = async (page: { limit: number; offset: number }, signal: AbortSignal) => {
    const { data, pagination } = await api.get('/api/v1/assets', { query: { ...filters, ...page }, signal })
    return { tables: data as Table[], pagination }
  }
  const list = useData<TableList>(key, signal => load({ limit, offset }, signal))
  const sources = useSources()
  const { place } = useRows(key, list.data?.tables ?? [], {
    name: texts.table,
    openText: texts.openTable,
    open: ({ qualified_name: name }) => navigate(tableAddress(name)),
  })
  useTitle(texts.catalog)
  const hasFilters = ['search', 'source', 'kind', 'status', 'schema', 'tag'].some(name => query.has(name))
  return (
    <div class="page">
      <div class="headline">
        <h1>
          {list.data ? countOf(list.data.pagination.total, 'table') : texts.catalog}
          <Help page="coverage#coverage" about={texts.catalog} />
        </h1>
        <ListTools
          list="tables"
          path="/catalog"
          columns={COLUMNS}
          load={async (page: { limit: number; offset: number }, signal: AbortSignal) => {
            const { tables, pagination } = await load(page, signal)
            return { rows: tables, total: pagination.total }
          }}
        />
      </div>
      <div class="filters">
        <SearchField label="Search tables" />
        <Choice
          name="source"
          label={texts.source}
          none="All sources"
          options={(sources.data ?? []).map(({ name }) => [name, name] as const)}
        />
        <Choice
          name="kind"
          label={texts.kind}
          none={texts.anyKind}
          options={KINDS.map(kind => [kind, inWords(kind)] as const)}
        />
        <Choice
          name="status"
          label={texts.status}
          none={texts.anyStatus}
          options={Object.keys(STATUSES).map(
            known => [known, texts.tableStatuses[known as TableStatus]] as const,
          )}
        />
        {(['schema', 'tag'] as const).map(
          name =>
            query.has(name) && (
              <button key={name} class="chip" onClick={() => changeQuery({ [name]: null, offset: null })}>
                {name}: <bdi>{query.get(name)}</bdi> <span aria-hidden="true">×</span>
              </button>
            ),
        )}
      </div>
      <Loaded of={list} what={texts.tables.toLowerCase()} rows={16}>
        {({ tables, pagination }: TableList) => (
          <DataTable
            list="tables"
            label={texts.tables}
            className="catalog stacked two-line"
            columns={COLUMNS}
            rows={tables}
            place={place}
            paging={pagination}
            empty={
              <Empty title="No table matches">
                {hasFilters && <p>Search for a part of the name, or clear the filters.</p>}
              </Empty>
            }
          />
        )}
      </Loaded>
      <ColumnMatches term={query.get('search') ?? ''} />
    </div>
  )
}

/** Tables with columns that the term of the search names; without the other filters, which columns do not have. */
function ColumnMatches({ term }: { term: string }) {
  const found = useData<ColumnMatch[]>(term ? `columns ${term}` : null, async signal => {
    const query = { q: term, limit: MAX_COLUMNS }
    return (await api.get('/api/v1/sdk/search', { query, signal })).data.columns
  })
  const tables = Map.groupBy(found.data ?? [], ({ qualified_name: table }) => table)
  if (tables.size === 0) return null
  return (
    <section>
      <h2>Columns with this name</h2>
      <ul class="list columns-found">
        {[...tables].map(([table, columns]) => (
          <li key={table}>
            <a href={tableAddress(table, 'columns')}>
              <span class="text">
                <bdi>{table}</bdi>
              </span>
              {columns.map(({ name, data_type: type }) => (
                <>
                  <code key={name}>
                    <mark>
                      <bdi>{name}</bdi>
                    </mark>
                  </code>{' '}
                  <span class="quiet">{type}</span>
                </>
              ))}
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}

const quiet = (text: string) => <span class="quiet">{text}</span>

const COLUMNS: Column<Table>[] = [
  {
    label: texts.table,
    isName: true,
    sort: { name: 'name' },
    cell: table => (
      <>
        <NameLink href={tableAddress(table.qualified_name)} name={table.name} />
        {table.asset_type !== 'table' && (
          <>
            {' '}
            <span class="quiet">{inWords(table.asset_type)}</span>
          </>
        )}
      </>
    ),
  },
  {
    label: 'Schema',
    cellClass: 'quiet',
    cell: table => (
      <bdi>
        {table.source}.{table.schema}
      </bdi>
    ),
  },
  {
    label: texts.freshness,
    title: ({ freshness: { learning } }) => (learning ? texts.updatesSeen(learning) : ''),
    cell: ({ freshness }) =>
      freshness.schedule_id === null ? (
        quiet(texts.notMonitored)
      ) : (
        <Status status={freshness.learning ? 'learning' : freshness.status} />
      ),
  },
  {
    label: texts.checks,
    sort: { name: 'status', isDefault: true },
    cellClass: 'state wraps',
    cell: ({ quality }) =>
      quality.status === 'none' && quality.pending === 0 ? (
        quiet(texts.notMonitored)
      ) : (
        <CheckCounts quality={quality} />
      ),
  },
  {
    label: texts.changes,
    cell: ({ schema_change_status: change, qualified_name: name }) =>
      change === 'none' ? (
        <span class="quiet no-alert">–</span>
      ) : (
        <a href={tableAddress(name, 'changes')}>
          <Severity level={change} word={texts.riskOf(change)} />
        </a>
      ),
  },
  { label: texts.columns, className: 'right roomy', cell: table => formatNumber(table.column_count) },
  { label: texts.rows, className: 'right', cell: table => formatNumber(table.known_rows?.count ?? null) },
  {
    label: texts.tags,
    cell: table =>
      table.tags.map(tag => (
        <button key={tag} class="chip" onClick={() => changeQuery({ tag, offset: null })}>
          <bdi>{tag}</bdi>
        </button>
      )),
  },
  {
    label: 'Owner',
    className: 'roomy',
    cell: ({ owners = [] }) => <bdi>{owners.map(({ name }) => name).join(', ')}</bdi>,
  },
  { label: 'Updated', cell: table => <Ago at={table.freshness.last_updated} /> },
]
