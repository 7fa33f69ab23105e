import type { ComponentChildren } from 'preact'
import { changeQuery, useQuery } from '../../lib/router.ts'
import { texts } from '../../texts.ts'

export type SortOrder = 'asc' | 'desc'

/** How a list is sorted, as the address says; undefined where it says nothing. @param names what it can be sorted by */
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
  isDefault,
  isOneWay,
  className,
}: {
  name: string
  label: ComponentChildren
  first?: SortOrder
  isDefault?: boolean
  isOneWay?: boolean
  className?: string
}) {
  const [query] = useQuery()
  const order = readSort(query, [name])?.order ?? (isDefault && !query.has('sort') ? first : undefined)
  const other = first === 'asc' ? 'desc' : 'asc'
  const next = order === undefined ? first : order === first && !isOneWay ? other : null
  const sort = () => changeQuery({ sort: next && name, order: next, offset: null })
  return (
    <th scope="col" class={className} aria-sort={order && (order === 'asc' ? 'ascending' : 'descending')}>
      <button class="sort" onClick={sort}>
        {label}
        <span aria-hidden="true">{order === undefined ? '↕' : order === 'asc' ? '↑' : '↓'}</span>
      </button>
    </th>
  )
}

/** Rows that are chosen for what is done to several at once. */
export interface Selection<Row> {
  selected: ReadonlySet<string>
  setSelected: (ids: ReadonlySet<string>) => void
  /** What a row is called in the label of its box. */
  nameOf: (row: Row) => string
  allLabel: string
}

/** The cell of a table's head that selects all rows of the page, or none. */
export function SelectAll({
  ids,
  of: { selected, setSelected, allLabel },
}: {
  ids: readonly string[]
  of: Selection<never>
}) {
  const isAll = ids.every(id => selected.has(id))
  return (
    <td>
      <input
        type="checkbox"
        checked={isAll}
        indeterminate={!isAll && selected.size > 0}
        aria-label={allLabel}
        onChange={() => setSelected(new Set(isAll ? [] : ids))}
      />
    </td>
  )
}

/** The cell that selects one row. */
export function SelectCell({
  id,
  name,
  of: { selected, setSelected },
}: {
  id: string
  name: string
  of: Selection<never>
}) {
  return (
    <td class="select">
      <input
        type="checkbox"
        checked={selected.has(id)}
        aria-label={texts.select(name)}
        onChange={() => setSelected(toggled(selected, id))}
      />
    </td>
  )
}

/** A selection with a row more, or without it. */
export function toggled(selected: ReadonlySet<string>, id: string): Set<string> {
  const next = new Set(selected)
  if (!next.delete(id)) next.add(id)
  return next
}
