import { Fragment, type ComponentChildren } from 'preact'
import { useHiddenColumns } from '../../lib/hidden-columns.ts'
import { Paging, type PageOfList } from '../paging.tsx'
import { SelectAll, SelectCell, SortHeader, type Selection, type SortOrder } from './table-head.tsx'

/** A column of a table: its head, and what stands in its cell of a row. */
export interface Column<Row> {
  /** Absent from all columns where the table has no head. */
  label?: ComponentChildren
  cell: (row: Row) => ComponentChildren
  /** Whether its cells are the names of their rows. */
  isName?: boolean
  /** Whether only screen readers get the label, as over buttons. */
  isLabelHidden?: boolean
  /** What the list is sorted by, as the address says. */
  sort?: { name: string; first?: SortOrder; isDefault?: boolean; isOneWay?: boolean }
  className?: string
  /** A class that its head does not have. */
  cellClass?: string | ((row: Row) => string)
  /** What a cell says when it is pointed at. */
  title?: (row: Row) => string
}

/** What a column is called that people may hide; not the one that names the rows, nor one of buttons. */
export const nameOfColumn = ({ label, isName, isLabelHidden }: Column<never>): string | undefined =>
  typeof label === 'string' && !isName && !isLabelHidden ? label : undefined

type Key = string | number

/** By which records are told apart where a table names nothing else. */
const idOf = (row: unknown): Key => (row as { id: string }).id

interface Props<Row> {
  /** The name of the list, under which people hide columns. */
  list?: string
  /** Those that are false are left out. */
  columns: readonly (Column<Row> | false)[]
  rows: readonly Row[]
  /** By default their id. */
  keyOf?: (row: Row) => Key
  /** The name of the region in which a table is scrolled sideways; without, it stands for itself. */
  label?: string
  /** A `caption`. */
  caption?: ComponentChildren
  className?: string
  /** What stands in place of a table without rows. */
  empty?: ComponentChildren
  paging?: PageOfList
  /** The key of a row that is marked. */
  chosen?: Key | null
  /** The number of the row that keys have moved to, which is marked too; rows have ids for that. */
  place?: number
  /** What stands below a row that is open. */
  details?: (row: Row) => ComponentChildren
  selection?: Selection<Row> | false
  /** Rows of one group stand together, below its title. */
  group?: { keyOf: (row: Row) => string; title: (first: Row) => ComponentChildren }
}

/** A table of records, one a row, and the way to the pages before and after. */
export function DataTable<Row>(props: Props<Row>) {
  const { rows, label, caption, className, empty, paging } = props
  const [hidden] = useHiddenColumns(props.list ?? '')
  const columns = props.columns.filter(column => !column || !hidden.includes(nameOfColumn(column) ?? ''))
  if (rows.length === 0 && empty !== undefined) return empty
  const table = (
    <table class={className}>
      {caption}
      <Head {...props} columns={columns} />
      <Body {...props} columns={columns} />
    </table>
  )
  return (
    <>
      {label === undefined ? (
        table
      ) : (
        <div class="scroll" tabindex={0} role="region" aria-label={label}>
          {table}
        </div>
      )}
      {paging && <Paging pagination={paging} />}
    </>
  )
}

function Head<Row>({ columns, rows, selection, keyOf = idOf }: Props<Row>) {
  if (!columns.some(column => column && column.label)) return null
  return (
    <thead>
      <tr>
        {selection && <SelectAll ids={rows.map(row => String(keyOf(row)))} of={selection} />}
        {columns.map(
          (column, n) =>
            column &&
            (column.sort ? (
              <SortHeader key={n} {...column.sort} label={column.label} className={column.className} />
            ) : (
              <th key={n} scope="col" class={column.className}>
                {column.isLabelHidden ? <span class="hidden">{column.label}</span> : column.label}
              </th>
            )),
        )}
      </tr>
    </thead>
  )
}

function Body<Row>({ rows, group, place, details, keyOf = idOf, ...props }: Props<Row>) {
  const columns = props.columns.filter(column => column !== false)
  const width = columns.length + (props.selection ? 1 : 0)
  const places = new Map(rows.map((row, n) => [row, n]))
  const renderRow = (row: Row) => {
    const key = keyOf(row)
    const isChosen = props.chosen === key || (place !== undefined && places.get(row) === place)
    const more = details?.(row)
    // Keyed together, so that what is open below a row stays as it is when the row moves.
    return (
      <Fragment key={key}>
        <tr
          id={place === undefined ? undefined : `row-${places.get(row)}`}
          class={isChosen ? 'chosen' : undefined}
        >
          {props.selection && (
            <SelectCell id={String(key)} name={props.selection.nameOf(row)} of={props.selection} />
          )}
          {columns.map((column, n) => renderCell(column, row, n))}
        </tr>
        {more && (
          <tr>
            <td colspan={width}>{more}</td>
          </tr>
        )}
      </Fragment>
    )
  }
  if (!group) return <tbody>{rows.map(renderRow)}</tbody>
  return [...Map.groupBy(rows, group.keyOf)].map(([name, members]) => (
    <tbody key={name}>
      <tr class="group-row">
        <th scope="rowgroup" colspan={width}>
          {group.title(members[0]!)}
        </th>
      </tr>
      {members.map(renderRow)}
    </tbody>
  ))
}

function renderCell<Row>(
  { cell, label, isName, isLabelHidden, className, cellClass, title }: Column<Row>,
  row: Row,
  key: number,
) {
  const classes = [className, typeof cellClass === 'function' ? cellClass(row) : cellClass]
  const attributes = {
    class: classes.filter(Boolean).join(' ') || undefined,
    title: title?.(row),
    // An attribute holds no elements.
    'data-label': typeof label === 'string' && !isLabelHidden ? label : undefined,
  }
  return isName ? (
    <th key={key} scope="row" {...attributes}>
      {cell(row)}
    </th>
  ) : (
    <td key={key} {...attributes}>
      {cell(row)}
    </td>
  )
}
