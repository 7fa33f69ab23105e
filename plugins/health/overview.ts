import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { lastDays } from '../../server/times/last-days.ts'
import type { AlertOverview, AlertsApi, Severity } from '../alerts/api.ts'
import type { CatalogApi } from '../catalog/api.ts'
import type { LineageApi } from '../lineage/api.ts'
import type { OwnersApi } from '../owners/api.ts'
import { DIMENSIONS } from './dimensions.ts'
import { readScoredTables, scoreOf, type ScoredTable } from './score.ts'

const MAX_CHANGES = 5
/** Teams and tags, of which a company may have many: those with the lowest score. */
const MAX_GROUPS = 12
const WORST_FIRST: readonly Severity[] = ['critical', 'warning', 'info']

interface OverviewDeps {
  alerts: AlertsApi
  catalog: CatalogApi
  /** Absent without the feature: then nothing is downstream of anything. */
  lineage?: LineageApi
  /** Absent without the feature: then no table has an owner. */
  owners?: OwnersApi
}

export interface OverviewQuery {
  days: number
  timezone: string
  asset_id?: string
}

interface SourceRow {
  id: string
  name: string
  sourceType: string
  tableCount: number
  isActive: boolean
}

interface ChangeRow {
  id: string
  tableId: string
  qualifiedName: string
  tableName: string
  changeType: string
  objectName: string
  impact: string
  detectedAt: Date
}

/**
 * What happened in the last days and what is wrong now, of a company or of an asset. The number of statements grows with
 * the steps of lineage below what is broken, not with the number of tables.
 * @throws 404 `ASSET_NOT_FOUND`
 */
export async function readOverview(deps: OverviewDeps, trx: Transaction, query: OverviewQuery) {
  const { alerts, catalog, lineage, owners } = deps
  const asset = query.asset_id === undefined ? undefined : await catalog.findAsset(trx, query.asset_id)
  const assetId = asset ? (asset.table?.id ?? asset.source.id) : null
  const times = lastDays(query.timezone, query.days)
  const starts = times.map(time => time.toJSDate())
  const found = await alerts.readOverview(trx, { starts, assetId })
  const tables = await readScoredTables(trx, { starts, assetId })
  const sources = await listSources(trx, asset?.source.id ?? null)
  const changes = await listChanges(trx, assetId)
  const owned = [...new Set([...tables.map(({ id }) => id), ...found.incidents.flatMap(causesOf)])]
  const ownersByAsset = (await owners?.ownersOf(trx, owned)) ?? new Map<string, never>()
  const reach =
    (await lineage?.countDownstream(trx, [
      ...changes.map(({ tableId }) => [tableId]),
      ...found.incidents.map(({ assetIds }) => assetIds),
    ])) ?? []
  const tablesBySource = Map.groupBy(tables, ({ sourceId }) => sourceId)
  const openBySource = Map.groupBy(found.open, ({ sourceId }) => sourceId)
  const openedByDay = Map.groupBy(found.opened, ({ place }) => place)
  const teams = groupTables(tables, ({ id }) =>
    (ownersByAsset.get(id) ?? []).flatMap(owner => (owner.type === 'team' ? owner.name : [])),
  )
  return {
    since: starts[0]!,
    until: starts.at(-1)!,
    timezone: query.timezone,
    ...presentScore(tables, query.days),
    trend: times.slice(0, -1).map((time, n) => ({
      date: time.toISODate(),
      opened: countDimensions(openedByDay.get(n + 1) ?? []),
    })),
    sources: sources.map(source => ({
      id: source.id,
      name: source.name,
      source_type: source.sourceType,
      table_count: source.tableCount,
      is_active: source.isActive,
      ...presentScore(tablesBySource.get(source.id) ?? [], query.days),
      open: presentOpen(openBySource.get(source.id) ?? []),
    })),
    teams: presentGroups(teams, query.days),
    tags: presentGroups(
      groupTables(tables, ({ tags }) => tags),
      query.days,
    ),
    total_incidents: found.totalIncidents,
    incidents: found.incidents.map((incident, n) => ({
      id: incident.id,
      title: incident.title,
      severity: incident.severity,
      status: incident.status,
      alert_count: incident.alertCount,
      asset_count: incident.assetIds.length,
      downstream_count: reach[changes.length + n] ?? 0,
      owners: [
        ...new Set(causesOf(incident).flatMap(id => (ownersByAsset.get(id) ?? []).map(({ name }) => name))),
      ],
      assignee: incident.assignee,
      created_at: incident.createdAt,
    })),
    minutes_to_detect: toTenths(found.minutes.detect),
    minutes_to_acknowledge: toTenths(found.minutes.acknowledge),
    minutes_to_resolve: toTenths(found.minutes.resolve),
    changes: changes.map((change, n) => ({
      id: change.id,
      qualified_name: change.qualifiedName,
      table_name: change.tableName,
      change_type: change.changeType,
      object_name: change.objectName,
      impact: change.impact,
      downstream_count: reach[n] ?? 0,
      detected_at: change.detectedAt,
    })),
  }
}

function toTenths(minutes: number | null): number | null {
  return minutes === null ? null : Math.max(0, Math.round(minutes * 10) / 10)
}

/** The table that an incident comes from; where it names none, those that it concerns. */
function causesOf({ causeAssetId, assetIds }: AlertOverview['incidents'][number]): string[] {
  return causeAssetId === null ? assetIds : [causeAssetId]
}

function listSources(trx: Transaction, sourceId: string | null): Promise<SourceRow[]> {
  return rows<SourceRow>(
    trx,
    `select id, name, source_type, table_count, is_active from sources
      where company_id = :companyId and (cast(:sourceId as uuid) is null or id = :sourceId)
      order by name limit 100`,
    { companyId: companyOf(trx), sourceId },
  )
}

/** The newest schema changes that no person has accepted. */
function listChanges(trx: Transaction, assetId: string | null): Promise<ChangeRow[]> {
  return rows<ChangeRow>(
    trx,
    `select c.id, c.table_id, t.qualified_name, t.name as table_name, c.change_type, c.object_name, c.impact,
            c.detected_at
       from schema_changes c join tables t on t.company_id = :companyId and t.id = c.table_id
      where c.company_id = :companyId and not c.is_acknowledged
        and (cast(:assetId as uuid) is null or c.table_id = :assetId or c.source_id = :assetId)
      order by array_position(array['high', 'medium', 'low'], c.impact), c.detected_at desc, c.id desc limit :limit`,
    { companyId: companyOf(trx), assetId, limit: MAX_CHANGES },
  )
}

function countDimensions(counts: readonly { dimension: string; count: number }[]) {
  return Object.fromEntries(
    DIMENSIONS.map(([name]) => [
      name,
      counts.filter(({ dimension }) => dimension === name).reduce((sum, { count }) => sum + count, 0),
    ]),
  )
}

/** By dimension the number of open alerts, and the worst severity; null without one. */
function presentOpen(open: AlertOverview['open']) {
  const counts = countDimensions(open)
  return Object.fromEntries(
    DIMENSIONS.map(([name]) => {
      const severity = WORST_FIRST.find(each =>
        open.some(alert => alert.dimension === name && alert.severity === each),
      )
      return [name, { alerts: counts[name], severity: severity ?? null }]
    }),
  )
}

/** Tables by the names of groups to which they belong; a table may belong to many. */
function groupTables(
  tables: readonly ScoredTable[],
  namesOf: (table: ScoredTable) => readonly string[],
): Map<string, ScoredTable[]> {
  const groups = new Map<string, ScoredTable[]>()
  for (const table of tables)
    for (const name of new Set(namesOf(table))) {
      const members = groups.get(name)
      if (members) members.push(table)
      else groups.set(name, [table])
    }
  return groups
}

function presentGroups(groups: ReadonlyMap<string, readonly ScoredTable[]>, days: number) {
  return [...groups]
    .map(([name, tables]) => ({ name, ...presentScore(tables, days) }))
    .sort((a, b) => (a.score ?? 0) - (b.score ?? 0) || a.name.localeCompare(b.name))
    .slice(0, MAX_GROUPS)
}

function presentScore(tables: readonly ScoredTable[], days: number) {
  const { watchedTables, score, days: history } = scoreOf(tables, days)
  return {
    watched_tables: watchedTables,
    score,
    scores: history.map(day => day.score),
    affected_tables: history.at(-1)?.affected ?? 0,
  }
}
