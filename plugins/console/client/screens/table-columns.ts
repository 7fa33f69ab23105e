import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { inWords } from '../lib/format.ts'
import { html } from '../lib/html.ts'
import { tableAddress, withQuery } from '../lib/router.ts'
import { canWrite } from '../lib/session.ts'
import { Empty } from '../parts/states.ts'
import { Status } from '../parts/status.ts'
import { texts } from '../texts.ts'
import type { TabProps } from './props.ts'

/** The columns of a table; those with a change that waits for review are marked. */
export function ColumnsTab({ table }: TabProps) {
  const { columns = [], primary_key: keys, schema_change_status: change } = table
  const changes = useData(change === 'none' ? null : `open changes ${table.id}`, async signal => {
    const query = { asset_id: table.id, unacknowledged_only: true, limit: 100 }
    const { data } = await api.get('/api/v1/sdk/schema/changes', { query, signal })
    return new Map(data.data.map(found => [found.column_name, found]))
  })
  if (columns.length === 0) return html`<${Empty} title=${texts.none} />`
  return html`${
      canWrite() &&
      html`<p class="actions above">
        <a class="button" href=${withQuery('/contracts', { add: '1', table: table.qualified_name })}
          >${texts.draftContract}</a
        >
      </p>`
    }
    <div class="scroll" tabindex="0" role="region" aria-label=${texts.columns}>
      <table>
        <thead>
          <tr>
            <th scope="col">${texts.column}</th>
            <th scope="col">${texts.dataType}</th>
            <th scope="col">${texts.nullable}</th>
            <th scope="col">${texts.tags}</th>
            <th scope="col">${texts.description}</th>
          </tr>
        </thead>
        <tbody>
          ${columns.map(
            column =>
              html`<tr key=${column.name}>
                <th scope="row">
                  <code><bdi>${column.name}</bdi></code>
                  ${keys.includes(column.name) && html` <span class="chip">${texts.key}</span>`}
                  <${Mark} table=${table.qualified_name} change=${changes.data?.get(column.name)} />
                </th>
                <td><code>${column.data_type}</code></td>
                <td class=${column.nullable ? 'quiet' : ''}>${column.nullable ? texts.yes : texts.no}</td>
                <td>
                  ${column.tags.map(
                    tag =>
                      html`<a key=${tag} class="chip" href=${withQuery('/catalog', { tag })}
                        ><bdi>${tag}</bdi></a
                      > `,
                  )}
                </td>
                <td class="quiet"><bdi>${column.description}</bdi></td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`
}

function Mark({ table, change }: { table: string; change?: { impact: string; change_type: string } }) {
  if (!change) return null
  return html`${' '}<a href=${tableAddress(table, 'changes')}
      ><${Status} status=${change.impact} word=${inWords(change.change_type)}
    /></a>`
}
