import { html } from '../lib/html.ts'
import { changeQuery, useQuery } from '../lib/router.ts'

export type SortOrder = 'asc' | 'desc'

/** How a list is sorted, as the address says; undefined for the order of the API. @param names what it can be sorted by */
export function readSort<N extends string>(
  query: URLSearchParams,
  names: readonly N[],
): { sort: N; order: SortOrder } | undefined {
  const sort = names.find(name => name === query.get('sort'))
  return sort && { sort, order: query.get('order') === 'desc' ? 'desc' : 'asc' }
}

/** The head of a column that sorts the list: in one order, in the other, and not at all. */
export function SortHeader({
  name,
  label,
  first = 'asc',
}: {
  name: string
  label: string
  first?: SortOrder
}) {
  const [query] = useQuery()
  const order = readSort(query, [name])?.order
  const other = first === 'asc' ? 'desc' : 'asc'
  const next = order === undefined ? first : order === first ? other : null
  const sort = () => changeQuery({ sort: next && name, order: next, offset: null })
  return html`<th scope="col" aria-sort=${order && (order === 'asc' ? 'ascending' : 'descending')}>
    <button class="sort" onClick=${sort}>
      ${label}<span aria-hidden="true">${order === undefined ? '↕' : order === 'asc' ? '↑' : '↓'}</span>
    </button>
  </th>`
}
/** The cell of a table's head that selects all rows of the page, or none. @param props.label of the box */
export function SelectAll({
  ids,
  selected,
  setSelected,
  label,
}: {
  ids: readonly string[]
  selected: ReadonlySet<string>
  setSelected: (ids: ReadonlySet<string>) => void
  label: string
}) {
  const isAll = ids.every(id => selected.has(id))
  return html`<td>
    <input
      type="checkbox"
      checked=${isAll}
      indeterminate=${!isAll && selected.size > 0}
      aria-label=${label}
      onChange=${() => setSelected(new Set(isAll ? [] : ids))}
    />
  </td>`
}
