import { useState } from 'preact/hooks'
import { useMenu } from '../../lib/menu.ts'
import type { LazyComponent } from '../lazy.tsx'
import { lazy } from '../lazy.tsx'
import type { Column } from './data-table.tsx'
import type { LoadCsvPage } from './csv.ts'
import type { CsvList, RowOf } from './csv-fields.ts'
import { listTexts } from './texts.ts'
import { useSession } from '../frame.tsx'

const ViewMenu = lazy(async () => (await import('./view-menu.tsx')).ViewMenu)
const ColumnMenu = lazy(async () => (await import('./column-menu.tsx')).ColumnMenu)
const CsvDialog = lazy(async () => (await import('./csv-dialog.tsx')).CsvDialog)

/** A list, with a way to its rows. */
export type ListToolsProps = {
  [L in CsvList]: {
    list: L
    path: string
    columns?: readonly (Column<never> | false)[]
    load: LoadCsvPage<RowOf<L>>
  }
}[CsvList]

/**
 * What can be done with a list as a whole: views of it, its columns, a file.
 * @param props.path of the list, for its views
 * @param props.columns those that can be hidden are among them; none where the list is no table
 * @param props.load a page of what the filters show, for the file
 */
export function ToolBar({ list, path, columns, load }: ListToolsProps) {
  const { user } = useSession()
  const [isSaving, setSaving] = useState(false)
  return (
    <div class="list-tools">
      {user && <Menu name={listTexts.views} of={ViewMenu} props={{ path }} />}
      {columns && <Menu name={listTexts.columns} of={ColumnMenu} props={{ list, columns }} />}
      <button class="small" onClick={() => setSaving(true)}>
        {listTexts.csv}
      </button>
      {isSaving && <CsvDialog list={list} load={load} close={() => setSaving(false)} />}
    </div>
  )
}

/** A button with a menu that is loaded when it is first opened. */
function Menu<P extends object>({
  name,
  of: Content,
  props,
}: {
  name: string
  of: LazyComponent<P>
  props: P
}) {
  const menu = useMenu()
  const [isOpen, setOpen] = useState(false)
  return (
    <details
      ref={menu}
      class="menu"
      onToggle={(event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}
    >
      <summary class="button small">{name}</summary>
      <div>{isOpen && <Content {...props} />}</div>
    </details>
  )
}
