import type { ServerRoute } from '@hapi/hapi'
import { access, inCompany, routesOf } from '../../server/http/access.ts'
import { auditRequest } from '../../server/http/audit.ts'
import { bodyOf, param } from '../../server/http/input.ts'
import { replies, watchBody, watchParams } from './schemas.ts'
import { watchTables, type WatchRequest } from './watch.ts'

const route = routesOf('watch')

export const routes: ServerRoute[] = [
  route('POST', '/api/v1/sdk/assets/{asset_id}/watch', access.write, {
    id: 'createWatch',
    description: 'Watch many tables of a source: row counts, freshness, key columns',
    notes:
      'Creates what is missing, with the defaults of single checks, and changes nothing that is there. Repeat it for new tables. With `dry_run` it returns what would be created, and what that costs at the source.',
    validate: { params: watchParams, payload: watchBody },
    response: replies.watched,
    handler: request =>
      inCompany(request, async trx => {
        const body = bodyOf<WatchRequest>(request)
        const { source, result } = await watchTables(request.server, trx, param(request, 'asset_id'), body)
        const counts = {
          row_count: result.row_count.created,
          freshness: result.freshness.created,
          not_null: result.not_null.created,
          unique: result.unique.created,
        }
        if (!body.dry_run && Object.values(counts).some(count => count > 0))
          await auditRequest(request, trx, {
            action: 'watch.created',
            target: { type: 'source', id: source.id },
            details: counts,
          })
        return { data: result }
      }),
  }),
]
