import type { Source } from 'tidemark/client'
import { api } from '../lib/api.ts'
import { useData, type Data } from '../lib/data.ts'
import { html } from '../lib/html.ts'
import { formatNumber } from '../lib/format.ts'
import { sourceAddress, withQuery } from '../lib/router.ts'
import { texts } from '../texts.ts'
import { SortHeader, type SortOrder } from './table-head.ts'
import { Status } from './status.ts'
import { Ago } from './time.ts'

/** The newest hundred sources; or the first ones by name. */
export function useSources(order?: { sort: 'name'; order: SortOrder }): Data<Source[]> {
  return useData(`sources ${order?.order}`, async signal => {
    const query = { asset_type: ['source' as const], limit: 100, ...order }
    return (await api.get('/api/v1/assets', { query, signal })).data as Source[]
  })
}

/** Sources with their state, a line each. @param props.isSortable whether the address says how they are sorted */
export function SourceTable({
  sources,
  isSortable = false,
}: {
  sources: readonly Source[]
  isSortable?: boolean
}) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${texts.sources}>
    <table>
      <thead>
        <tr>
          ${
            isSortable
              ? html`<${SortHeader} name="name" label=${texts.source} />`
              : html`<th scope="col">${texts.source}</th>`
          }
          <th scope="col">${texts.engine}</th>
          <th scope="col">${texts.connection}</th>
          <th scope="col">${texts.freshness}</th>
          <th scope="col">${texts.checks}</th>
          <th scope="col">${texts.changes}</th>
          <th scope="col" class="right">${texts.tables}</th>
          <th scope="col">${texts.lastDiscovery}</th>
        </tr>
      </thead>
      <tbody>
        ${sources.map(
          source =>
            html`<tr key=${source.id}>
              <th scope="row">
                <a href=${sourceAddress(source.qualified_name)}><bdi>${source.name}</bdi></a>
              </th>
              <td>${source.source_type}</td>
              <td title=${source.connection_message}><${Status} status=${source.connection_status} /></td>
              <td title=${source.freshness_message}><${Status} status=${source.freshness_status} /></td>
              <td title=${source.data_quality_message}><${Status} status=${source.data_quality_status} /></td>
              <td>
                <a href=${withQuery('/changes', { source: source.qualified_name })}
                  ><${Status} status=${source.schema_change_status}
                /></a>
              </td>
              <td class="right">
                <a href=${withQuery('/catalog', { source: source.name })}
                  >${formatNumber(source.table_count)}</a
                >
              </td>
              <td><${Ago} at=${source.last_refresh_at} /></td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}
