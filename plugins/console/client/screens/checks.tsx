import { useRef } from 'preact/hooks'
import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { countOf } from '../lib/format.ts'
import { changeQuery, checkAddress, navigate, tableAddress, useQuery } from '../lib/router.ts'
import { DataTable, type Column } from '../parts/table/data-table.tsx'
import { CheckMarks, RESULT_COLUMNS, STATUS_COLUMN, type Check } from '../parts/check-cells.tsx'
import { Choice, SearchField } from '../parts/filters.tsx'
import { EmptyUnlessNew } from '../parts/first-source.tsx'
import { useSession, useTitle } from '../parts/frame.tsx'
import { Help } from '../parts/help.tsx'
import { pageSizeOf, readOffset, type PageOfList } from '../parts/paging.tsx'
import { readSort } from '../parts/table/table-head.tsx'
import { ListTools } from '../parts/table/list-tools.tsx'
import { useRows } from '../parts/table/use-rows.ts'
import { NameLink } from '../parts/table/name-link.tsx'
import { shortNames } from '../parts/table/short-name.ts'
import { Empty, Loaded } from '../parts/states.tsx'
import { texts } from '../texts.ts'
import { CheckActions } from './check-actions.tsx'

const POINTS = 30
/** Characters of a title that its column has room for. */
const MAX_TITLE = 38
const STATUSES = ['failing', 'error', 'warning', 'learning', 'pending', 'passing'] as const
/** What needs attention comes first where the address does not say how the list is sorted. */
const WORST_FIRST = { sort: 'status', order: 'desc' } as const
const FILTERS = ['kind', 'status', 'state', 'search'] as const

/** A kind of checks with what people call one of them. */
type Kind = Awaited<ReturnType<typeof api.get<'/api/v1/sdk/checks'>>>['data']['kinds'][number]

interface CheckList {
  checks: Check[]
  kinds: Kind[]
  pagination: PageOfList
}

const SORTS = ['status', 'created_at', 'name', 'table', 'kind', 'interval', 'last_checked_at'] as const

/** Reads the filters of an address; what the API does not know is left out, but for kinds, which extensions add. */
function readFilters(query: URLSearchParams) {
  const kind = query.get('kind') as 'validity' | null
  const given = query.get('status')?.split(',') ?? []
  const status = STATUSES.filter(known => given.includes(known))
  const state = query.get('state')
  return {
    ...(kind && { kind }),
    ...(status.length > 0 && { status }),
    ...((state === 'active' || state === 'paused') && { is_active: state === 'active' }),
    ...(query.get('search') && { search: query.get('search')! }),
    ...(readSort(query, SORTS) ?? WORST_FIRST),
  }
}

/** All checks of the company, filtered and sorted by what stands in the address. */
export function Checks() {
  const [query] = useQuery()
  const { preferences } = useSession()
  const asked = { ...readFilters(query), limit: pageSizeOf(preferences), offset: readOffset(query) }
  const key = JSON.stringify(asked)
  const load = async (page: { limit: number; offset: number }, points: number, signal: AbortSignal) => {
    const reply = await api.get('/api/v1/sdk/checks', { query: { ...asked, ...page, points }, signal })
    return { checks: reply.data.items, kinds: reply.data.kinds, pagination: reply.pagination }
  }
  const list = useData<CheckList>(`checks ${key}`, signal => load(asked, POINTS, signal))
  const { place, selection, targets, setSelected } = useRows(key, list.data?.checks ?? [], {
    name: texts.check,
    openText: 'Open the check',
    open: check => navigate(checkAddress(check)),
    select: { nameOf: ({ title }) => title, allLabel: 'Select all checks of this page' },
  })
  useTitle(texts.checks)
  // They stay in the filter while another page is asked for.
  const kinds = useRef<Kind[]>([])
  if (list.data) kinds.current = list.data.kinds
  const isFiltered = FILTERS.some(name => query.has(name))
  const changed = (those: readonly Check[]) => {
    setSelected(new Set(targets.filter(check => !those.includes(check)).map(({ id }) => id)))
    list.reload()
  }
  const count = list.data?.pagination.total
  const columns = columnsOf(
    kinds.current,
    shortNames((list.data?.checks ?? []).map(check => check.qualified_name)),
  )
  return (
    <div class="page">
      <div class="headline">
        <h1>
          {count === undefined
            ? texts.checks
            : isFiltered
              ? `${countOf(count, 'check')} found`
              : `${countOf(count, 'check watches', 'checks watch')} your data`}
          <Help page="checks" about={texts.checks} />
        </h1>
        <ListTools
          list="checks"
          path="/checks"
          columns={columns}
          load={async (page: { limit: number; offset: number }, signal: AbortSignal) => {
            const { checks, pagination } = await load(page, 1, signal)
            return { rows: checks, total: pagination.total }
          }}
        />
        <a class="button small" href="/recommendations">
          {texts.recommendations}
        </a>
      </div>
      <CheckFilters kinds={kinds.current} isFiltered={isFiltered} />
      <Loaded of={list} what={texts.checks.toLowerCase()} rows={16}>
        {({ checks, pagination }: CheckList) => (
          <DataTable
            list="checks"
            label={texts.checks}
            className="checks stacked two-line"
            columns={columns}
            rows={checks}
            place={place}
            selection={selection}
            paging={pagination}
            empty={<NoChecks isFiltered={isFiltered || pagination.offset > 0} />}
          />
        )}
      </Loaded>
      {targets.length > 0 && (
        <div class="bulk">
          <span role="status">{texts.selected(targets.length)}</span>
          <CheckActions checks={targets} changed={changed} />
        </div>
      )}
    </div>
  )
}

function CheckFilters({ kinds, isFiltered }: { kinds: readonly Kind[]; isFiltered: boolean }) {
  const clear = Object.fromEntries([...FILTERS, 'offset'].map(name => [name, null]))
  return (
    <div class="filters">
      <SearchField label="Search checks" />
      <Choice
        name="kind"
        label={texts.kind}
        none={texts.anyKind}
        options={kinds.map(({ kind, label }) => [kind, label] as const)}
      />
      <Choice
        name="status"
        label={texts.status}
        none={texts.anyStatus}
        options={[
          ['failing,error', 'failing or in error'] as const,
          ...STATUSES.map(status => [status, status] as const),
        ]}
      />
      <Choice
        name="state"
        label="Paused or active"
        none="Active or paused"
        options={[['active', 'active'] as const, ['paused', texts.paused] as const]}
      />
      {isFiltered && (
        <button class="link" onClick={() => changeQuery(clear)}>
          {texts.clearFilters}
        </button>
      )}
    </div>
  )
}

function NoChecks({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No check matches" />
  return (
    <EmptyUnlessNew text="Checks can be added once Tidemark knows your tables.">
      <Empty title="No check watches your data yet">
        <p>{texts.noChecksText}</p>
        <p>
          <a class="button primary" href="/guide/checks">
            {texts.howToAddChecks}
          </a>
        </p>
      </Empty>
    </EmptyUnlessNew>
  )
}

const columnsOf = (kinds: readonly Kind[], short: ReadonlyMap<string, string>): Column<Check>[] => [
  {
    label: texts.check,
    isName: true,
    sort: { name: 'name' },
    cell: check => (
      <>
        <NameLink href={checkAddress(check)} name={check.title} max={MAX_TITLE} /> <CheckMarks of={check} />
      </>
    ),
  },
  {
    label: texts.table,
    sort: { name: 'table' },
    cell: ({ qualified_name: name }) => (
      <NameLink href={tableAddress(name)} name={name} short={short.get(name)} />
    ),
  },
  {
    label: texts.kind,
    sort: { name: 'kind' },
    cellClass: 'quiet',
    cell: ({ kind }) => kinds.find(each => each.kind === kind)?.label ?? kind,
  },
  { ...STATUS_COLUMN, sort: { name: 'status', first: 'desc', isDefault: true } },
  ...RESULT_COLUMNS,
]
