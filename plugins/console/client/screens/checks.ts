import { useEffect, useState } from 'preact/hooks'
import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { html } from '../lib/html.ts'
import { useKeys } from '../lib/keys.ts'
import { changeQuery, navigate, tableAddress, useQuery, withQuery } from '../lib/router.ts'
import { canWrite } from '../lib/session.ts'
import { CheckCells, CheckStatus, type Check } from '../parts/check-cells.ts'
import { Choice, SearchField } from '../parts/filters.ts'
import { useSession, useTitle } from '../parts/frame.ts'
import { Help } from '../parts/help.ts'
import { pageSizeOf, Paging, readOffset, type PageOfList } from '../parts/paging.ts'
import { readSort, SelectAll, SortHeader } from '../parts/table-head.ts'
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
  const toggle = (id: string) => {
    const next = new Set(selected)
    if (!next.delete(id)) next.add(id)
    setSelected(next)
  }
  const chosen = checks[place]
  useKeys([
    { keys: 'j', text: `${texts.next}: ${texts.check}`, run: () => go(1) },
    { keys: 'k', text: `${texts.previous}: ${texts.check}`, run: () => go(-1) },
    ...(canWrite()
      ? [{ keys: 'x', text: texts.select(texts.check), run: () => chosen && toggle(chosen.id) }]
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
        checks.length === 0
          ? html`<${NoChecks} isFiltered=${isFiltered || pagination.offset > 0} />`
          : html`<${CheckTable}
                checks=${checks}
                chosenId=${chosen?.id}
                selected=${selected}
                toggle=${toggle}
                setSelected=${setSelected}
              /><${Paging} pagination=${pagination} />`}
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

function CheckTable({
  checks,
  chosenId,
  selected,
  toggle,
  setSelected,
}: {
  checks: readonly Check[]
  chosenId: string | undefined
  selected: ReadonlySet<string>
  toggle: (id: string) => void
  setSelected: (ids: ReadonlySet<string>) => void
}) {
  const isWriter = canWrite()
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${texts.checks}>
    <table class="checks">
      <thead>
        <tr>
          ${
            isWriter &&
            html`<${SelectAll}
              ids=${checks.map(({ id }) => id)}
              selected=${selected}
              setSelected=${setSelected}
              label=${checkTexts.selectAll}
            />`
          }
          <th scope="col">${texts.check}</th>
          <th scope="col">${texts.table}</th>
          <th scope="col">${texts.kind}</th>
          <${SortHeader} name="status" label=${texts.status} first="desc" />
          <th scope="col" class="right">${texts.value}</th>
          <th scope="col">${texts.trend}</th>
          <th scope="col">${texts.interval}</th>
          <th scope="col">${texts.checkedAt}</th>
        </tr>
      </thead>
      <tbody>
        ${checks.map(
          (check, n) =>
            html`<tr key=${check.id} id=${`row-${n}`} class=${check.id === chosenId ? 'chosen' : ''}>
              ${
                isWriter &&
                html`<td>
                  <input
                    type="checkbox"
                    checked=${selected.has(check.id)}
                    aria-label=${texts.select(check.name)}
                    onChange=${() => toggle(check.id)}
                  />
                </td>`
              }
              <th scope="row">
                <a href=${addressOf(check)}><bdi>${check.name}</bdi></a>
                ${!check.is_active && html` <span class="chip">${texts.paused}</span>`}
              </th>
              <td>
                <a href=${tableAddress(check.qualified_name)}><bdi>${check.qualified_name}</bdi></a>
              </td>
              <td class="quiet">${check.kind}</td>
              <td><${CheckStatus} check=${check} /></td>
              <${CheckCells} check=${check} />
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}
