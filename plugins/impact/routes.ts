import type { ServerRoute } from '@hapi/hapi'
import { access, inCompany, routesOf } from '../../server/http/access.ts'
import { invalidField } from '../../server/http/errors.ts'
import { param } from '../../server/http/input.ts'
import { assessChanges, presentImpact } from './assess.ts'
import type { ImpactDeps } from './deps.ts'
import { readAlertImpact, readChangeImpact } from './recorded.ts'
import * as schemas from './schemas.ts'

const route = routesOf('lineage')

export const routes = (deps: ImpactDeps): ServerRoute[] => [
  route('POST', '/api/v1/sdk/lineage/impact', access.read, {
    id: 'checkImpact',
    description: 'What planned changes of tables and columns would break; stores nothing',
    notes:
      'At most 100 changes. Tables and dashboards made from them, by column where that is known, their owners, and the checks and contracts about them. The command `tidemark impact` reads the changes from a migration.',
    validate: { payload: schemas.impactRequest },
    response: schemas.replies.impact,
    app: { errors: ['ASSET_NOT_FOUND'], isHeavy: true },
    handler: async request => {
      const { source: sourceId, changes } = request.payload
      const { source, table } = await inCompany(request, trx => deps.catalog.findAsset(trx, sourceId))
      if (table) throw invalidField('source', 'is a table: name its source')
      const { level, impacts, unknown } = await assessChanges(deps, source, changes)
      return {
        data: {
          source: { id: source.id, name: source.name },
          level,
          changes: impacts.map(presentImpact),
          unknown: unknown.map(({ index, change, problem }) => ({
            index,
            change: change.change,
            table: change.table ?? null,
            schema: change.schema ?? null,
            column: change.column ?? null,
            problem,
          })),
        },
      }
    },
  }),
  route('GET', '/api/v1/sdk/schema/changes/{change_id}/impact', access.read, {
    id: 'getSchemaChangeImpact',
    description: 'What a schema change breaks',
    notes: 'As `POST /api/v1/sdk/lineage/impact` says it of a planned change, by what is known now.',
    validate: { params: schemas.changeParams },
    response: schemas.replies.change,
    app: { errors: ['CHANGE_NOT_FOUND'] },
    handler: request =>
      inCompany(request, async trx => ({
        data: await readChangeImpact(deps, trx, param(request, 'change_id')),
      })),
  }),
  route('GET', '/api/v1/sdk/alerts/{id}/impact', access.read, {
    id: 'getAlertImpact',
    description: 'What is made from the table of an alert, and who owns it',
    notes: 'From its column where the alert is about one. An alert that is about no table has no impact.',
    validate: { params: schemas.alertParams },
    response: schemas.replies.alert,
    app: { errors: ['ALERT_NOT_FOUND'] },
    handler: request =>
      inCompany(request, async trx => ({
        data: await readAlertImpact(deps, trx, param(request, 'id')),
      })),
  }),
]
