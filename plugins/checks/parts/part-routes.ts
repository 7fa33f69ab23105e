import type { ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access, inCompany, routesOf, type AnyRequest } from '../../../server/http/access.ts'
import { auditRequest } from '../../../server/http/audit.ts'
import { exampleRecord, held, inData, reply } from '../../../server/http/envelopes.ts'
import { invalidField } from '../../../server/http/errors.ts'
import { param } from '../../../server/http/input.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { TableContext } from '../../catalog/api.ts'
import type { CheckDeps } from '../deps.ts'
import { partMismatch } from './alert-kind.ts'
import { hasParts, loadPartSettings, setReads, type TableReads } from './known-parts.ts'

const route = routesOf('checks')

const READS = ['auto', 'changed', 'whole'] as const satisfies readonly TableReads[]

interface PartSettingsPatch {
  reads?: TableReads
  rescan_days?: number | null
}

const patchBody = Joi.object<PartSettingsPatch>({
  reads: Joi.valid(...READS).description(
    '`auto`: parts that did not change are not read again where the table is large (`PARTS_FROM_ROWS`); `changed`: nor where it is small; `whole`: all is read each time. Giving it forgets what was known of the parts, and ends the alert about them.',
  ),
  rescan_days: Joi.number()
    .strict()
    .integer()
    .min(1)
    .max(90)
    .allow(null)
    .description(
      'Days after which a part is read again although it did not change; null for `PARTS_RESCAN_DAYS`.',
    ),
})
  .min(1)
  .example({ reads: 'auto' })

const tableParts = exampleRecord({
  asset_id: held.id.description('The table.').example('0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d'),
  reads: Joi.valid(...READS)
    .description('How its checks of all rows are measured.')
    .example('auto'),
  rescan_days: Joi.number().integer().allow(null).example(null),
  is_supported: Joi.boolean()
    .description('Whether the engine of the source knows which parts of a table changed.')
    .example(true),
  known_parts: held.count.description('Parts of which numbers are known.').example(60),
  known_rows: held.count.description('Their rows.').example(30_000_000),
  oldest_read_at: held.time.allow(null).example('2026-03-02T08:05:00.000Z'),
  newest_read_at: held.time.allow(null).example('2026-03-09T08:05:00.000Z'),
  differed_at: held.time
    .allow(null)
    .description(
      'When numbers of parts were found wrong, so that the table is read whole since; null if not.',
    )
    .example(null),
  differed_parts: Joi.array().items(Joi.string()).description('The parts that were.').example([]),
}).label('TableParts')

const params = Joi.object({ asset_id: Joi.string().max(1_000).required() })
const PATH = '/api/v1/sdk/assets/{asset_id}/parts'

/** The routes that show and set how the parts of a table are read. */
export const partRoutes = (deps: Pick<CheckDeps, 'alerts' | 'catalog'>): ServerRoute[] => [
  route('GET', PATH, access.read, {
    id: 'getTableParts',
    description: 'Get what is known of the parts of a table',
    notes:
      'Checks of all rows of a large partitioned table read only the parts that changed. The source is not queried.',
    validate: { params },
    response: reply(inData(tableParts)),
    app: { errors: ['ASSET_NOT_FOUND'] },
    handler: request =>
      inCompany(request, async trx => ({
        data: await describeParts(deps, trx, await findTable(deps, trx, request)),
      })),
  }),
  route('PATCH', PATH, access.write, {
    id: 'updateTableParts',
    description: 'Set whether the parts of a table that did not change are read again',
    notes:
      'Use `reads` `whole` to have all rows read each time, and `auto` to go back, also after an alert that kept numbers were wrong.',
    validate: { params, payload: patchBody },
    response: reply(inData(tableParts)),
    app: { errors: ['ASSET_NOT_FOUND'] },
    handler: request =>
      inCompany(request, async trx => {
        const found = await findTable(deps, trx, request)
        const { reads, rescan_days: rescanDays } = request.payload
        await setReads(trx, found.table.id, { reads, ...(rescanDays !== undefined && { rescanDays }) })
        if (reads !== undefined) await deps.alerts.resolveAll(trx, partMismatch.name, [found.table.id])
        await auditRequest(request, trx, {
          action: 'table_parts.updated',
          target: { type: 'table', id: found.table.id },
          details: { ...request.payload },
        })
        return { data: await describeParts(deps, trx, found) }
      }),
  }),
]

async function findTable(
  { catalog }: Pick<CheckDeps, 'catalog'>,
  trx: Transaction,
  request: AnyRequest,
): Promise<TableContext> {
  const { source, table } = await catalog.findAsset(trx, param(request, 'asset_id'))
  if (table) return { source, table }
  throw invalidField('asset_id', 'is a source; give a table of it')
}

async function describeParts(
  { catalog }: Pick<CheckDeps, 'catalog'>,
  trx: Transaction,
  { source, table }: TableContext,
) {
  const settings = await loadPartSettings(trx, table.id)
  const [known] = await rows<{ parts: number; rows: string; oldest: Date | null; newest: Date | null }>(
    trx,
    `select cast(count(*) as int) as parts, coalesce(sum(rows), 0) as rows, min(read_at) as oldest, max(read_at) as newest
     from table_parts where company_id = :companyId and table_id = :tableId`,
    { companyId: companyOf(trx), tableId: table.id },
  )
  return {
    asset_id: table.id,
    reads: settings.reads,
    rescan_days: settings.rescanDays,
    is_supported: hasParts(catalog, { source, table }),
    known_parts: known?.parts ?? 0,
    known_rows: Number(known?.rows ?? 0),
    oldest_read_at: known?.oldest ?? null,
    newest_read_at: known?.newest ?? null,
    differed_at: settings.differedAt,
    differed_parts: settings.differedParts,
  }
}
