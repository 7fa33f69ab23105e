import { useHiddenColumns } from '../../lib/hidden-columns.ts'
import { nameOfColumn, type Column } from './data-table.tsx'
import { listTexts } from './texts.ts'

/** The columns of a list, each with a box that shows or hides it. */
export function ColumnMenu({ list, columns }: { list: string; columns: readonly (Column<never> | false)[] }) {
  const [hidden, hide] = useHiddenColumns(list)
  const names = columns.map(column => column && nameOfColumn(column)).filter(name => typeof name === 'string')
  const toggle = (name: string) =>
    hide(hidden.includes(name) ? hidden.filter(each => each !== name) : [...hidden, name])
  return (
    <>
      {names.map(name => (
        <label key={name}>
          <input type="checkbox" checked={!hidden.includes(name)} onChange={() => toggle(name)} />
          {name}
        </label>
      ))}
      <button class="link" disabled={hidden.length === 0} onClick={() => hide([])}>
        {listTexts.allColumns}
      </button>
    </>
  )
}
