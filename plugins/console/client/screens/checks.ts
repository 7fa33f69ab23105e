import { useEffect, useState } from 'preact/hooks'
import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { html } from '../lib/html.ts'
import { useKeys } from '../lib/keys.ts'
import { changeQuery, navigate, tableAddress, useQuery, withQuery } from '../lib/router.ts'
import { canWrite } from '../lib/session.ts'
import { DataTable, type Column } from '../parts/table/data-table.ts'
import { RESULT_COLUMNS, STATUS_COLUMN, type Check } from '../parts/check-cells.ts'
import { Choice, SearchField } from '../parts/filters.ts'
import { useSession, useTitle } from '../parts/frame.ts'
import { Help } from '../parts/help.ts'
import { pageSizeOf, readOffset, type PageOfList } from '../parts/paging.ts'
import { readSort, toggled, type Selection } from '../parts/table/table-head.ts'
import { Empty, Loaded } from '../parts/states.ts'
import { texts } from '../texts.ts'
import { checkTexts } from '../texts/checks.ts'
import { CheckActions } from './check-actions.ts'

const POINTS = 30
const KINDS = ['validity', 'metric', 'referential'] as const
const STATUSES = ['failing', 'error', 'warning', 'learning', 'pending', 'passing'] as const
const FILTERS = ['kind', 'status', 'state', 'search'] as const

interface CheckList {
  checks: Check[]
  pagination: PageOfList
}

/** Reads the filters of an address; what the API does not know is left out. */
function readFilters(query: URLSearchParams) {
  const kind = KINDS.find(known => known === query.get('kind'))
  const given = query.get('status')?.split(',') ?? []
  const status = STATUSES.filter(known => given.includes(known))
  const state = query.get('state')
  return {
    ...(kind && { kind }),
    ...(status.length > 0 && { status }),
    ...((state === 'active' || state === 'paused') && { is_active: state === 'active' }),
    ...(query.get('search') && { search: query.get('search')! }),
    ...readSort(query, ['status']),
  }
}

/** All checks of the company, filtered and sorted by what stands in the address. */
export function Checks() {
  const [query] = useQuery()
  const { preferences } = useSession()
  const asked = { ...readFilters(query), limit: pageSizeOf(preferences), offset: readOffset(query) }
  const key = JSON.stringify(asked)
  const list = useData<CheckList>(`checks ${key}`, async signal => {
    const reply = await api.get('/api/v1/sdk/checks', { query: { ...asked, points: POINTS }, signal })
    return { checks: reply.data.items, pagination: reply.pagination }
  })
  const checks = list.data?.checks ?? []
  const [place, setPlace] = useState(-1)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  // What is not shown any more must not be changed.
  useEffect(() => {
    setPlace(-1)
    setSelected(new Set())
  }, [key])
  const go = (step: number) => {
    const next = Math.max(0, Math.min(checks.length - 1, place + step))
    setPlace(next)
    document.getElementById(`row-${next}`)?.scrollIntoView({ block: 'nearest' })
  }
  const chosen = checks[place]
  useKeys([
    { keys: 'j', text: `${texts.next}: ${texts.check}`, run: () => go(1) },
    { keys: 'k', text: `${texts.previous}: ${texts.check}`, run: () => go(-1) },
    ...(canWrite()
      ? [
          {
            keys: 'x',
            text: texts.select(texts.check),
            run: () => chosen && setSelected(toggled(selected, chosen.id)),
          },
        ]
      : []),
    { keys: 'Enter', text: checkTexts.openCheck, run: () => chosen && navigate(addressOf(chosen)) },
    { keys: 'Escape', text: texts.close, run: () => setSelected(new Set()) },
  ])
  useTitle(texts.checks)
  const isFiltered = FILTERS.some(name => query.has(name))
  const targets = checks.filter(({ id }) => selected.has(id))
  const changed = (those: readonly Check[]) => {
    setSelected(new Set([...selected].filter(id => !those.some(check => check.id === id))))
    list.reload()
  }
  const count = list.data?.pagination.total
  return html`<div class="page">
    <h1>
      ${count === undefined ? texts.checks : (isFiltered ? checkTexts.found : checkTexts.title)(count)}
      <${Help} page="checks" about=${texts.checks} />
    </h1>
    <${CheckFilters} isFiltered=${isFiltered} />
    <p><a href="/recommendations">${texts.recommendations}</a></p>
    ${
      targets.length > 0 &&
      html`<div class="bulk">
        <span role="status">${texts.selected(targets.length)}</span>
        <${CheckActions} checks=${targets} changed=${changed} />
      </div>`
    }
    <${Loaded} of=${list} what=${texts.checks.toLowerCase()} rows=${16}>
      ${({ checks, pagination }: CheckList) =>
        html`<${CheckTable}
          checks=${checks}
          place=${place}
          paging=${pagination}
          isFiltered=${isFiltered || pagination.offset > 0}
          selected=${selected}
          setSelected=${setSelected}
        />`}
    <//>
  </div>`
}

/** The table of a check, with its chart. */
const addressOf = ({ qualified_name: table, id }: Check) => withQuery(tableAddress(table), { check: id })

function CheckFilters({ isFiltered }: { isFiltered: boolean }) {
  const clear = Object.fromEntries([...FILTERS, 'offset'].map(name => [name, null]))
  return html`<div class="filters">
    <${SearchField} label=${checkTexts.searchChecks} />
    <${Choice}
      name="kind"
      label=${texts.kind}
      none=${texts.anyKind}
      options=${KINDS.map(kind => [kind, kind] as const)}
    />
    <${Choice}
      name="status"
      label=${texts.status}
      none=${texts.anyStatus}
      options=${[
        ['failing,error', checkTexts.needAttention] as const,
        ...STATUSES.map(status => [status, status] as const),
      ]}
    />
    <${Choice}
      name="state"
      label=${checkTexts.activity}
      none=${checkTexts.activeOrPaused}
      options=${[['active', texts.active] as const, ['paused', texts.paused] as const]}
    />
    ${isFiltered && html`<button class="link" onClick=${() => changeQuery(clear)}>${texts.clearFilters}</button>`}
  </div>`
}

function NoChecks({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return html`<${Empty} title=${checkTexts.noMatch} />`
  return html`<${Empty} title=${checkTexts.noChecks}>
    <p>${texts.noChecksText}</p>
    <p><a class="button primary" href="/api/public/docs/checks.md">${texts.howToAddChecks}</a></p>
  <//>`
}

const COLUMNS: Column<Check>[] = [
  {
    label: texts.check,
    isName: true,
    cell: check =>
      html`<a href=${addressOf(check)}><bdi>${check.name}</bdi></a>
        ${!check.is_active && html` <span class="chip">${texts.paused}</span>`}`,
  },
  {
    label: texts.table,
    cell: ({ qualified_name: name }) => html`<a href=${tableAddress(name)}><bdi>${name}</bdi></a>`,
  },
  { label: texts.kind, cellClass: 'quiet', cell: ({ kind }) => kind },
  { ...STATUS_COLUMN, sort: { name: 'status', first: 'desc' } },
  ...RESULT_COLUMNS,
]

interface TableProps extends Pick<Selection<Check>, 'selected' | 'setSelected'> {
  checks: readonly Check[]
  place: number
  paging: PageOfList
  isFiltered: boolean
}

function CheckTable({ checks, place, paging, isFiltered, selected, setSelected }: TableProps) {
  const selection: Selection<Check> = {
    selected,
    setSelected,
    nameOf: ({ name }) => name,
    allLabel: checkTexts.selectAll,
  }
  return html`<${DataTable}
    label=${texts.checks}
    className="checks"
    columns=${COLUMNS}
    rows=${checks}
    place=${place}
    selection=${canWrite() && selection}
    paging=${paging}
    empty=${html`<${NoChecks} isFiltered=${isFiltered} />`}
  />`
}
