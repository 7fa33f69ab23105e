import Joi from 'joi'
import { companyOf, rows, type Transaction } from '../../server/database/database.ts'
import { exampleIn, exampleRecord, held, inData, reply } from '../../server/http/envelopes.ts'
import { invalidField } from '../../server/http/errors.ts'
import { queryInteger } from '../../server/http/page.ts'
import type { IncidentsApi } from '../alerts/api.ts'
import type { CatalogApi } from '../catalog/api.ts'
import type { LineageApi } from '../lineage/api.ts'

const DAY_MS = 86_400_000
/** As long as runs are kept. */
const MAX_DAYS = 90
/** The latest ones, for each type. */
const MAX_EVENTS = 100

export interface EventsQuery {
  days: number
}

export const eventsParams = Joi.object({
  asset_id: Joi.string().max(1_000).required().description('The id or qualified name of a table.'),
})
export const eventsQuery = Joi.object<EventsQuery>({
  days: queryInteger(1, MAX_DAYS).default(MAX_DAYS).description('How far to look back.'),
})

interface TableEvent {
  type: 'change' | 'run' | 'incident'
  at: Date
  name: string
  state: string
}

const event = exampleRecord({
  type: Joi.valid('change', 'run', 'incident').example('change'),
  at: held.time.description('When it happened, or began.').example('2026-03-09T08:05:00.000Z'),
  name: held.text.description('A column or another object, a job, or a title.').example('total'),
  state: held.text
    .description('The type of a schema change; the state of a run or an incident.')
    .example('column_removed'),
}).label('TableEvent')

export const events = reply(
  inData(
    exampleRecord({
      events: Joi.array()
        .items(event)
        .description('The latest 100 of each type.')
        .example([exampleIn(event)]),
    }),
  ).description('What happened, the newest of each type first.'),
)

/**
 * What happened to a table, for the time axis of its charts: schema changes, runs that write it, and incidents with alerts
 * of it; in three statements.
 * @throws 404 `ASSET_NOT_FOUND`; 400 for a source
 */
export async function listEvents(
  {
    alerts,
    catalog,
    lineage,
  }: { alerts: { incidents: IncidentsApi }; catalog: CatalogApi; lineage?: LineageApi },
  trx: Transaction,
  assetId: string,
  { days }: EventsQuery,
): Promise<TableEvent[]> {
  const { table } = await catalog.findAsset(trx, assetId)
  if (!table) throw invalidField('asset_id', 'is a source, but must be a table: charts are of tables')
  const since = new Date(Date.now() - days * DAY_MS)
  const changes = await rows<{ at: Date; name: string; state: string }>(
    trx,
    `select detected_at as at, object_name as name, change_type as state from schema_changes
      where company_id = :companyId and table_id = :tableId and detected_at >= :since
      order by detected_at desc, id desc limit :limit`,
    { companyId: companyOf(trx), tableId: table.id, since, limit: MAX_EVENTS },
  )
  const runs = (await lineage?.runsOf(trx, [table.id], since)) ?? []
  const incidents = await alerts.incidents.listOf(trx, table.id, { since, limit: MAX_EVENTS })
  return [
    ...changes.map(change => ({ type: 'change' as const, ...change })),
    ...runs.slice(0, MAX_EVENTS).map(run => ({
      ...{ type: 'run' as const, at: run.endedAt ?? run.startedAt ?? run.lastEventAt },
      ...{ name: run.jobName, state: run.state },
    })),
    ...incidents.map(({ at, title, status }) => ({
      type: 'incident' as const,
      at,
      name: title,
      state: status,
    })),
  ]
}
