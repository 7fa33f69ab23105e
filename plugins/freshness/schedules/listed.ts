import type { Transaction } from '../../../server/database/database.ts'
import { hasErrorData } from '../../../server/http/errors.ts'
import type { CatalogApi } from '../../catalog/api.ts'
import { createSchedule, type ScheduleFields } from './schedules.ts'

/** The body of `POST /sdk/freshness/schedules/bulk` that lists tables, validated. */
export interface ListedScheduleRequest extends ScheduleFields {
  asset_id: string
  is_active: boolean
  schedules: (ScheduleFields & { table_path: string })[]
}

/** What became of the listed tables, in their order. */
export interface ListedScheduleResult {
  results: (
    | { table_path: string; status: 'created'; schedule_id: string; error: null }
    | { table_path: string; status: 'failed'; schedule_id: null; error: string }
  )[]
  created: number
  failed: number
  total: number
}

/** Creates the schedules of listed tables. A table that is refused fails alone. @throws 404 for an unknown asset */
export async function createListedSchedules(
  catalog: CatalogApi,
  trx: Transaction,
  { schedules, ...shared }: ListedScheduleRequest,
): Promise<ListedScheduleResult> {
  // An unknown asset is an error of the request, not of each table.
  const { source, table } = await catalog.findAsset(trx, shared.asset_id)
  const assetId = (table ?? source).id
  const results: ListedScheduleResult['results'] = []
  for (const fields of schedules) {
    const body = { ...withoutOtherThreshold(shared, fields), ...fields, asset_id: assetId }
    const { table_path: path } = fields
    try {
      const { uuid: id } = await createSchedule(catalog, trx, body)
      results.push({ table_path: path, status: 'created', schedule_id: id, error: null })
    } catch (error) {
      // Refused before anything was written, so that the transaction goes on.
      if (!hasErrorData(error)) throw error
      results.push({ table_path: path, status: 'failed', schedule_id: null, error: error.message })
    }
  }
  const created = results.filter(({ status }) => status === 'created').length
  return { results, created, failed: results.length - created, total: results.length }
}

/** The shared fields, without the threshold in one form if a table sets it in the other. */
function withoutOtherThreshold<Shared extends ScheduleFields>(shared: Shared, own: ScheduleFields): Shared {
  const isOwn = own.sla_threshold !== undefined || own.expected_interval_hours !== undefined
  return isOwn ? { ...shared, sla_threshold: undefined, expected_interval_hours: undefined } : shared
}
