import type { ServerRoute } from '@hapi/hapi'
import { formatName } from '../../../connectors/catalog.ts'
import { access, caller, routesOf } from '../../../server/http/access.ts'
import { param } from '../../../server/http/input.ts'
import { pagination } from '../../../server/http/page.ts'
import type { CheckDeps } from '../deps.ts'
import { titleOf, type TypeLabels } from './check-title.ts'
import { checkListReading, type CheckPageRow, type CheckRow } from './check-list-reading.ts'
import { checkListParams, checkListQuery, checkListReply, type CheckListQuery } from './check-list-schemas.ts'

/** The routes that list the checks of all kinds: those of the company, and those of an asset. */
export function checkListRoutes({
  kinds,
  catalog,
  labels,
}: Pick<CheckDeps, 'kinds' | 'catalog'> & { labels: TypeLabels }): ServerRoute[] {
  const listed = () => [...kinds.values()].map(({ name, label }) => ({ kind: name, label }))
  const names = () => [...kinds.keys()]
  const route = routesOf('checks')
  return [
    route('GET', '/api/v1/sdk/checks', access.read, {
      id: 'listAllChecks',
      description: 'List the checks of all assets with their last results',
      notes:
        'Lists the validity rules, metrics and referential checks of the company: active and inactive ones, the newest first. Use it to see what is checked, and what fails, everywhere.',
      validate: { query: checkListQuery(names) },
      response: checkListReply,
      handler: async request => {
        const { query, server } = request
        const { companyId } = caller(request)
        const reading = checkListReading({ kinds, labels }, companyId, undefined, query)
        const [found] = await server.db.read<[CheckPageRow]>(companyId, [reading])
        return presentList(found, listed(), { query, labels })
      },
    }),
    route('GET', '/api/v1/sdk/checks/{asset_id}', access.read, {
      id: 'listChecks',
      description: 'List the checks of an asset with their last results',
      notes:
        'Lists the validity rules, metrics and referential checks of a table, or of all tables of a source: active and inactive ones, the newest first. Use it for an overview with small charts; the endpoints of each kind have the configuration.',
      validate: { params: checkListParams, query: checkListQuery(names) },
      response: checkListReply,
      handler: async request => {
        const { query } = request
        const [found] = await catalog.readByAsset<[CheckPageRow]>(request, param(request, 'asset_id'), id => [
          checkListReading({ kinds, labels }, caller(request).companyId, id, query),
        ])
        return presentList(found, listed(), { query, labels })
      },
    }),
  ]
}

function presentList(
  found: readonly CheckPageRow[],
  kinds: readonly { kind: string; label: string }[],
  { query, labels }: { query: CheckListQuery; labels: TypeLabels },
) {
  const items = found.filter(row => row.id !== null).map(row => presentCheck(row, query.points, labels))
  return { data: { items, kinds }, pagination: pagination(found[0]?.total ?? 0, query) }
}

function presentCheck(row: CheckRow, points: number, labels: TypeLabels) {
  const results = (row.results ?? []).map(([at, value, status, low, high]) => ({
    at: new Date(at),
    value,
    status,
    low,
    high,
  }))
  return {
    kind: row.kind,
    id: row.id,
    asset_id: row.tableId,
    qualified_name: row.qualifiedName,
    table_path: formatName([row.catalogName, row.schemaName, row.ofTable]),
    name: row.name,
    title: titleOf(row, labels),
    column_name: row.columnName,
    type: row.type,
    severity: row.severity,
    is_active: row.isActive,
    interval: row.checkInterval,
    status: row.status,
    last_checked_at: row.lastCheckedAt,
    open_alert_id: row.openAlertId,
    ...(row.managedBy && { managed_by: row.managedBy }),
    ...(row.filter !== null && { filter: row.filter }),
    ...(row.windowSize !== null && {
      time_column: row.timeColumn,
      window: row.windowSize,
      window_delay: row.windowDelay,
      revisit: row.revisit,
    }),
    points: row.hasSeries && points > 0 ? results : [],
  }
}
