import type { Alert, Source, Table } from 'tidemark/client'
import type { Recommendation } from '../../screens/recommendations/requests.ts'
import type { ListedIncident } from '../../screens/incidents/requests.ts'
import type { SchemaChange } from '../change-list.tsx'
import type { Check } from '../check-cells.tsx'
import type { CsvField } from './csv.ts'

const checks: readonly CsvField<Check>[] = [
  ['id', check => check.id],
  ['check', check => check.title],
  ['name', check => check.name],
  ['kind', check => check.kind],
  ['type', check => check.type],
  ['table', check => check.qualified_name],
  ['column', check => check.column_name],
  ['status', check => check.status],
  ['severity', check => check.severity],
  ['active', check => check.is_active],
  ['value', check => check.points.at(-1)?.value],
  ['low', check => check.points.at(-1)?.low],
  ['high', check => check.points.at(-1)?.high],
  ['interval', check => check.interval],
  ['checked', check => check.last_checked_at],
  ['open_alert', check => check.open_alert_id],
]

const tables: readonly CsvField<Table>[] = [
  ['id', table => table.id],
  ['table', table => table.qualified_name],
  ['type', table => table.asset_type],
  ['freshness', table => (table.freshness.schedule_id === null ? 'not watched' : table.freshness.status)],
  ['checks', table => table.quality.status],
  ['passing', table => table.quality.passing],
  ['learning', table => table.quality.learning],
  ['failing', table => table.quality.failing],
  ['in_error', table => table.quality.error],
  ['not_yet_run', table => table.quality.pending],
  ['schema_changes', table => table.schema_change_status],
  ['columns', table => table.column_count],
  ['rows', table => table.known_rows?.count],
  ['tags', table => table.tags.join(' ')],
  ['updated', table => table.freshness.last_updated],
]

const changes: readonly CsvField<SchemaChange>[] = [
  ['id', change => change.id],
  ['change', change => change.change_type],
  ['object', change => change.object_name],
  ['table', change => change.qualified_name],
  ['before', change => change.old_value],
  ['after', change => change.new_value],
  ['impact', change => change.impact],
  ['found', change => change.detected_at],
  ['accepted', change => change.acknowledged_at],
]

const recommendations: readonly CsvField<Recommendation>[] = [
  ['id', ({ id }) => id],
  ['table', ({ table_path: path }) => path],
  ['check', ({ type_label: label }) => label],
  ['kind', ({ kind }) => kind],
  ['type', ({ type }) => type],
  ['column', ({ column_name: column }) => column],
  ['why', ({ reason }) => reason],
  ['confidence', ({ confidence }) => confidence],
  ['statements_per_day', ({ cost }) => cost.statements_per_day],
  ['rows_per_day', ({ cost }) => cost.rows_per_day],
  ['status', ({ status }) => status],
]

const alerts: readonly CsvField<Alert>[] = [
  ['id', alert => alert.id],
  ['alert', alert => alert.title],
  ['table', alert => alert.qualified_name],
  ['kind', alert => alert.event_type],
  ['severity', alert => alert.severity],
  ['status', alert => alert.status],
  ['assignee', alert => alert.assignee?.email],
  ['occurrences', alert => alert.occurrences],
  ['opened', alert => alert.created_at],
  ['last_seen', alert => alert.last_seen_at],
]

const incidents: readonly CsvField<ListedIncident>[] = [
  ['id', incident => incident.id],
  ['incident', incident => incident.title],
  ['severity', incident => incident.severity],
  ['status', incident => incident.status],
  ['alerts', incident => incident.alert_count],
  ['tables', incident => incident.asset_count],
  ['assignee', incident => incident.assignee?.email],
  ['opened', incident => incident.created_at],
]

const sources: readonly CsvField<Source>[] = [
  ['id', source => source.id],
  ['source', source => source.qualified_name],
  ['engine', source => source.source_type],
  ['connection', source => source.connection_status],
  ['freshness', source => source.freshness_status],
  ['checks', source => source.data_quality_status],
  ['schema_changes', source => source.schema_change_status],
  ['tables', source => source.table_count],
  ['last_discovery', source => source.last_refresh_at],
]

/** What a CSV of each list has; further columns come at the end, so that files stay readable by what reads them. */
export const CSV_FIELDS = { checks, tables, changes, recommendations, alerts, incidents, sources }
export type CsvList = keyof typeof CSV_FIELDS
/** What a row of a list is. */
export type RowOf<L extends CsvList> = (typeof CSV_FIELDS)[L] extends readonly CsvField<infer Row>[]
  ? Row
  : never
