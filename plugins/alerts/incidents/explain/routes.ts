import type { ServerRoute } from '@hapi/hapi'
import { access, inCompany, routesOf } from '../../../../server/http/access.ts'
import { companyOf, rows, type Transaction } from '../../../../server/database/database.ts'
import { param } from '../../../../server/http/input.ts'
import type { AssetLookup, LookUps } from '../../api.ts'
import type { Deps } from '../../deps.ts'
import { briefToday } from './briefing.ts'
import { explainAsset } from './capsule.ts'
import * as schemas from './schemas.ts'

const route = routesOf('incidents')

export function explainRoutes(deps: Deps): ServerRoute[] {
  return [
    route('POST', '/api/v1/sdk/alerts/investigations/explain', access.read, {
      id: 'explainAsset',
      description: 'Explain what is wrong with a table, from what is known',
      notes:
        'From lineage, alerts, schema changes, freshness and runs, with fixed rules and without a language model: the same facts always give the same reply. It stores nothing, and no source is queried.',
      validate: { payload: schemas.explainBody },
      response: schemas.capsule,
      handler: request =>
        inCompany(request, async trx => {
          const body = request.payload
          const { source, table } = await findAsset(deps.lookUps, trx, body.asset_id)
          const assetId = (table ?? source).id
          const capsule = await explainAsset(deps, trx, {
            assetId,
            sourceId: source.id,
            ...(body.event_type && { eventType: body.event_type }),
          })
          return {
            data: {
              investigation_id: assetId,
              question: body.question ?? `What is wrong with ${table?.qualifiedName ?? source.name}?`,
              root_cause_hypothesis: capsule.hypothesis,
              confidence: capsule.confidence,
              suggested_fix: capsule.fix,
              triggers: capsule.triggers,
              consequences: capsule.consequences,
              open_questions: capsule.openQuestions,
            },
          }
        }),
    }),
    route('GET', '/api/v1/sdk/alerts/investigations/{id}', access.read, {
      id: 'getInvestigation',
      description: 'Explain an incident, an alert or a table, by its id',
      notes: 'As `POST /api/v1/sdk/alerts/investigations/explain` explains its table.',
      validate: { params: schemas.investigationParams },
      app: { errors: ['ASSET_NOT_FOUND'] },
      response: schemas.investigation,
      handler: request =>
        inCompany(request, async trx => {
          const id = param(request, 'id')
          const target = await findTarget(deps.lookUps, trx, id)
          const capsule = await explainAsset(deps, trx, target)
          return {
            data: {
              id,
              root_cause_hypothesis: capsule.hypothesis,
              confidence: capsule.confidence,
              suggested_fix: capsule.fix,
              correlated_events: capsule.triggers,
              affected_downstream: capsule.consequences,
            },
          }
        }),
    }),
    route('GET', '/api/v1/sdk/briefings/today', access.read, {
      id: 'getBriefing',
      description: 'Get what one should know of the data today',
      notes: 'Incidents that go on, what happened within the last 24 hours, and what needs attention.',
      response: schemas.briefing,
      handler: request => inCompany(request, async trx => ({ data: await briefToday(deps, trx) })),
    }),
  ]
}

/** The asset of an incident's cause, of an alert, or the asset itself. @throws 404 `ASSET_NOT_FOUND` */
async function findTarget(lookUps: Partial<LookUps>, trx: Transaction, id: string) {
  const [cause] = await rows<{ assetId: string; sourceId: string }>(
    trx,
    `select a.asset_id, a.source_id from incidents i
       join incident_alerts ia on ia.company_id = :companyId and ia.incident_id = i.id
       join alerts a on a.company_id = :companyId and a.id = ia.alert_id
      where i.company_id = :companyId and i.id = :id
      order by a.asset_id = cast(i.cause ->> 'asset_id' as uuid) desc, a.created_at limit 1`,
    { companyId: companyOf(trx), id },
  )
  if (cause) return cause
  const [alert] = await rows<{ assetId: string; sourceId: string }>(
    trx,
    `select asset_id, source_id from alerts
      where company_id = :companyId and id = :id and asset_id is not null and source_id is not null`,
    { companyId: companyOf(trx), id },
  )
  if (alert) return alert
  const { source, table } = await findAsset(lookUps, trx, id)
  return { assetId: (table ?? source).id, sourceId: source.id }
}

/** A source, or a table with its source. @throws 404 `ASSET_NOT_FOUND`; Error where no feature knows assets */
function findAsset(
  { assets }: Partial<LookUps>,
  trx: Transaction,
  id: string,
): ReturnType<AssetLookup['findAsset']> {
  if (!assets) throw new Error('No feature has connected its look-up of assets')
  return assets.findAsset(trx, id)
}
