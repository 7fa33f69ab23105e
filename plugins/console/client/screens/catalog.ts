import { useEffect, useState } from 'preact/hooks'
import type { Table } from 'tidemark/client'
import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { formatNumber, inWords } from '../lib/format.ts'
import { html } from '../lib/html.ts'
import { useKeys } from '../lib/keys.ts'
import { changeQuery, navigate, tableAddress, useQuery } from '../lib/router.ts'
import { useSession, useTitle } from '../parts/frame.ts'
import { Choice, SearchField } from '../parts/filters.ts'
import { Help } from '../parts/help.ts'
import { pageSizeOf, Paging, readOffset, type PageOfList } from '../parts/paging.ts'
import { useSources } from '../parts/source-table.ts'
import { Empty, Loaded } from '../parts/states.ts'
import { Status } from '../parts/status.ts'
import { Ago } from '../parts/time.ts'
import { texts } from '../texts.ts'

const KINDS = ['table', 'view', 'materialized_view', 'external_table'] as const

interface TableList {
  tables: Table[]
  pagination: PageOfList
}

/** All tables, searched and filtered by what stands in the address. */
export function Catalog() {
  const [query] = useQuery()
  const { preferences } = useSession()
  const limit = pageSizeOf(preferences)
  const filters = {
    asset_type: KINDS.filter(kind => !query.has('kind') || query.get('kind') === kind),
    ...(query.get('search') && { search: query.get('search')! }),
    ...(query.get('source') && { source: query.get('source')! }),
    ...(query.get('schema') && { schema: [query.get('schema')!] }),
    ...(query.get('tag') && { tag: [query.get('tag')!] }),
  }
  const offset = readOffset(query)
  const list = useData<TableList>(`tables ${JSON.stringify(filters)} ${limit} ${offset}`, async signal => {
    const { data, pagination } = await api.get('/api/v1/assets', {
      query: { ...filters, limit, offset },
      signal,
    })
    return { tables: data as Table[], pagination }
  })
  const sources = useSources()
  const [place, setPlace] = useState(-1)
  useEffect(() => setPlace(-1), [list.data])
  const tables = list.data?.tables ?? []
  const go = (step: number) => {
    const next = Math.max(0, Math.min(tables.length - 1, place + step))
    setPlace(next)
    document.getElementById(`row-${next}`)?.scrollIntoView({ block: 'nearest' })
  }
  useKeys([
    { keys: 'j', text: `${texts.next}: ${texts.table}`, run: () => go(1) },
    { keys: 'k', text: `${texts.previous}: ${texts.table}`, run: () => go(-1) },
    {
      keys: 'Enter',
      text: texts.openTable,
      run: () => tables[place] && navigate(tableAddress(tables[place].qualified_name)),
    },
  ])
  useTitle(texts.catalog)
  const hasFilters = ['search', 'source', 'kind', 'schema', 'tag'].some(name => query.has(name))
  return html`<div class="page">
    <h1>
      ${list.data ? texts.catalogTitle(list.data.pagination.total) : texts.catalog}
      <${Help} page="coverage#coverage" about=${texts.catalog} />
    </h1>
    <div class="filters">
      <${SearchField} label=${texts.searchTables} />
      <${Choice}
        name="source"
        label=${texts.source}
        none=${texts.anySource}
        options=${(sources.data ?? []).map(({ name }) => [name, name] as const)}
      />
      <${Choice}
        name="kind"
        label=${texts.kind}
        none=${texts.anyKind}
        options=${KINDS.map(kind => [kind, inWords(kind)] as const)}
      />
      ${(['schema', 'tag'] as const).map(
        name =>
          query.has(name) &&
          html`<button key=${name} class="chip" onClick=${() => changeQuery({ [name]: null, offset: null })}>
            ${name}: <bdi>${query.get(name)}</bdi> <span aria-hidden="true">×</span>
          </button>`,
      )}
    </div>
    <${Loaded} of=${list} what=${texts.tables.toLowerCase()} rows=${16}>
      ${({ tables, pagination }: TableList) =>
        tables.length === 0
          ? html`<${Empty} title=${texts.noTables}>${hasFilters && html`<p>${texts.noTablesText}</p>`}<//>`
          : html`<${TableList} tables=${tables} place=${place} /><${Paging} pagination=${pagination} />`}
    <//>
  </div>`
}

function TableList({ tables, place }: { tables: readonly Table[]; place: number }) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${texts.tables}>
    <table>
      <thead>
        <tr>
          <th scope="col">${texts.table}</th>
          <th scope="col">${texts.schema}</th>
          <th scope="col">${texts.freshness}</th>
          <th scope="col">${texts.checks}</th>
          <th scope="col">${texts.changes}</th>
          <th scope="col" class="right">${texts.columns}</th>
          <th scope="col" class="right">${texts.rows}</th>
          <th scope="col">${texts.tags}</th>
          <th scope="col">${texts.updated}</th>
        </tr>
      </thead>
      <tbody>
        ${tables.map(
          (table, n) =>
            html`<tr key=${table.id} id=${`row-${n}`} class=${n === place ? 'chosen' : ''}>
              <th scope="row">
                <a href=${tableAddress(table.qualified_name)}><bdi>${table.name}</bdi></a>
                ${table.asset_type !== 'table' && html` <span class="quiet">${inWords(table.asset_type)}</span>`}
              </th>
              <td class="quiet"><bdi>${table.source}.${table.schema}</bdi></td>
              <td>
                ${
                  table.freshness.checked_at === null
                    ? html`<span class="quiet">${texts.notMonitored}</span>`
                    : html`<${Status} status=${table.freshness.status} />`
                }
              </td>
              <td>
                ${
                  table.quality.status === 'none'
                    ? html`<span class="quiet">${texts.notMonitored}</span>`
                    : html`<${Status} status=${table.quality.status} word=${texts.checksOf(table.quality)} />`
                }
              </td>
              <td>
                ${
                  table.schema_change_status === 'none'
                    ? html`<span class="quiet">–</span>`
                    : html`<a href=${tableAddress(table.qualified_name, 'changes')}
                        ><${Status}
                          status=${table.schema_change_status}
                          word=${`${table.schema_change_status} impact`}
                      /></a>`
                }
              </td>
              <td class="right">${formatNumber(table.column_count)}</td>
              <td class="right">${formatNumber(table.estimated_rows)}</td>
              <td>
                ${table.tags.map(
                  tag =>
                    html`<button key=${tag} class="chip" onClick=${() => changeQuery({ tag, offset: null })}>
                      <bdi>${tag}</bdi>
                    </button>`,
                )}
              </td>
              <td><${Ago} at=${table.freshness.last_updated} /></td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}
