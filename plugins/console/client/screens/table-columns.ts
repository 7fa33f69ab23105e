import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { inWords } from '../lib/format.ts'
import { html } from '../lib/html.ts'
import { tableAddress, withQuery } from '../lib/router.ts'
import { canWrite } from '../lib/session.ts'
import { DataTable, type Column } from '../parts/table/data-table.ts'
import { Empty } from '../parts/states.ts'
import { Status } from '../parts/status.ts'
import { texts } from '../texts.ts'
import type { TabProps } from './props.ts'

type TableColumn = NonNullable<TabProps['table']['columns']>[number]

/** The columns of a table; those with a change that waits for review are marked. */
export function ColumnsTab({ table }: TabProps) {
  const { columns = [], primary_key: keys, schema_change_status: change } = table
  const changes = useData(change === 'none' ? null : `open changes ${table.id}`, async signal => {
    const query = { asset_id: table.id, unacknowledged_only: true, limit: 100 }
    const { data } = await api.get('/api/v1/sdk/schema/changes', { query, signal })
    return new Map(data.data.map(found => [found.column_name, found]))
  })
  if (columns.length === 0) return html`<${Empty} title=${texts.none} />`
  const parts: Column<TableColumn>[] = [
    {
      label: texts.column,
      isName: true,
      cell: ({ name }) =>
        html`<code><bdi>${name}</bdi></code>
          ${keys.includes(name) && html` <span class="chip">key</span>`}
          <${Mark} table=${table.qualified_name} change=${changes.data?.get(name)} />`,
    },
    { label: 'Type', cell: column => html`<code>${column.data_type}</code>` },
    {
      label: 'Nullable',
      cellClass: column => (column.nullable ? 'quiet' : ''),
      cell: column => (column.nullable ? texts.yes : texts.no),
    },
    {
      label: texts.tags,
      cell: column =>
        column.tags.map(
          tag =>
            html`<a key=${tag} class="chip" href=${withQuery('/catalog', { tag })}><bdi>${tag}</bdi></a> `,
        ),
    },
    { label: 'Description', cellClass: 'quiet', cell: column => html`<bdi>${column.description}</bdi>` },
  ]
  return html`${
      canWrite() &&
      html`<p class="actions above">
        <a class="button" href=${withQuery('/contracts', { add: '1', table: table.qualified_name })}
          >Draft a contract</a
        >
      </p>`
    }
    <${DataTable}
      label=${texts.columns}
      columns=${parts}
      rows=${columns}
      keyOf=${(column: TableColumn) => column.name}
    />`
}

function Mark({ table, change }: { table: string; change?: { impact: string; change_type: string } }) {
  if (!change) return null
  return html`${' '}<a href=${tableAddress(table, 'changes')}
      ><${Status} status=${change.impact} word=${inWords(change.change_type)}
    /></a>`
}
