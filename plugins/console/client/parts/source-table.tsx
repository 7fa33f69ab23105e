import type { Source } from 'tidemark/client'
import { api } from '../lib/api.ts'
import { useData, type Data } from '../lib/data.ts'
import { formatNumber } from '../lib/format.ts'
import { sourceAddress, withQuery } from '../lib/router.ts'
import { texts } from '../texts.ts'
import { DataTable, type Column } from './table/data-table.tsx'
import type { SortOrder } from './table/table-head.tsx'
import { Severity, Status } from './status.tsx'
import { Ago } from './time.tsx'

/** The newest hundred sources; or the first ones by name. */
export function useSources(order?: { sort: 'name'; order: SortOrder }): Data<Source[]> {
  return useData(`sources ${order?.order}`, async signal => {
    const query = { asset_type: ['source' as const], limit: 100, ...order }
    return (await api.get('/api/v1/assets', { query, signal })).data as Source[]
  })
}

/** How fresh the tables of a source are: no green sign while some are not watched. */
export function freshnessOf({ freshness_status: status, health: { watched } }: Source) {
  const isKnown = status !== 'fresh' || watched.freshness >= watched.tables
  return isKnown ? { status } : { status: 'unknown', word: texts.partlyWatched(status, watched) }
}

/** How its checks do: no green sign while something of a table is not known. */
export function checksOf({ data_quality_status: status, health }: Source) {
  const isKnown = status !== 'passing' || health.status !== 'unknown'
  return isKnown ? { status } : { status: 'unknown', word: status }
}

export const SOURCE_COLUMNS: readonly Column<Source>[] = [
  {
    label: texts.source,
    isName: true,
    sort: { name: 'name' },
    cell: source => (
      <a href={sourceAddress(source.qualified_name)}>
        <bdi>{source.name}</bdi>
      </a>
    ),
  },
  { label: texts.engine, cell: source => source.source_type },
  {
    label: texts.connection,
    cellClass: 'state',
    title: source => source.connection_message,
    cell: source => <Status status={source.connection_status} />,
  },
  {
    label: texts.freshness,
    title: source => source.freshness_message,
    cell: source => <Status {...freshnessOf(source)} />,
  },
  {
    label: texts.checks,
    title: source => source.health.headline,
    cell: source => <Status {...checksOf(source)} />,
  },
  {
    label: texts.changes,
    cell: source => (
      <a href={withQuery('/changes', { source: source.qualified_name })}>
        {source.schema_change_status === 'none' ? (
          texts.none.toLowerCase()
        ) : (
          <Severity level={source.schema_change_status} />
        )}
      </a>
    ),
  },
  {
    label: texts.tables,
    className: 'right',
    cell: source => (
      <a href={withQuery('/catalog', { source: source.name })}>{formatNumber(source.table_count)}</a>
    ),
  },
  { label: texts.lastDiscovery, cell: source => <Ago at={source.last_refresh_at} /> },
]

/** Sources with their state, a line each, sorted as the address says. */
export function SourceTable({ sources }: { sources: readonly Source[] }) {
  return (
    <DataTable
      list="sources"
      label={texts.sources}
      className="stacked two-line"
      columns={SOURCE_COLUMNS}
      rows={sources}
    />
  )
}
