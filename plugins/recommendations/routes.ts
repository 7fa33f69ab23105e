import type { ServerRoute } from '@hapi/hapi'
import { access, actorOf, caller, inCompany, routesOf, type AnyRequest } from '../../server/http/access.ts'
import { auditRequest } from '../../server/http/audit.ts'
import type { Transaction } from '../../server/database/database.ts'
import { param } from '../../server/http/input.ts'
import { pagination } from '../../server/http/page.ts'
import type { Source } from '../catalog/api.ts'
import { sumApplied, type AppliedRecommendations } from './applied.ts'
import { applyNamed, applyOffers } from './apply.ts'
import { removeDismissals } from './decisions.ts'
import type { RecommendationsDeps } from './deps.ts'
import { listOffers } from './list.ts'
import { estimateBackfill } from './backfill.ts'
import { presentApplied, presentOffer } from './present.ts'
import {
  applyBody,
  type ApplyBody,
  dismissBody,
  idParams,
  listQuery,
  replies,
  restoreBody,
} from './schemas.ts'
import { dismissOffers, findOffers, matcherOf, tableIdsOf, tryOffers, type NamedOffers } from './service.ts'

const base = '/api/v1/sdk/recommendations'
const route = routesOf('recommendations')

export const routes = (deps: RecommendationsDeps): ServerRoute[] => [
  route('GET', base, access.read, {
    description: 'List recommended checks of a source or a table',
    notes:
      'From constraints, profiles, names, tags, lineage and history. Each says why, how sure it is and what it costs. Profile the tables first: most rules need a profile.',
    validate: { query: listQuery },
    response: replies.list,
    app: { isHeavy: true },
    handler: request =>
      inCompany(request, async trx => {
        const { query } = request
        const asset = await deps.catalog.findAsset(trx, query.asset_id)
        const page = await listOffers(deps, trx, asset, query)
        const { tables, counts, uncounted: uncounted_tables } = page
        const recommendations = page.offers.map(offer => presentOffer(offer, deps.checks.labelOfType))
        const pages = pagination(page.total, query)
        return { data: { recommendations, tables, counts, uncounted_tables, pagination: pages } }
      }),
  }),
  route('POST', `${base}/apply`, access.write, {
    id: 'applyRecommendations',
    description: 'Create recommended checks',
    notes:
      'By their ids, or all that is offered for a source or a table. Repeat it at will: what is there stays as it is, and what was dismissed or removed is not created by filters.',
    validate: { payload: applyBody },
    response: replies.applied,
    app: { isHeavy: true, errors: ['ASSET_NOT_FOUND', 'NOT_FOUND', 'CONFLICT', 'UNAVAILABLE'] },
    handler: async request => {
      const { payload: body } = request
      const { companyId } = caller(request)
      const tried = body.check_past ? await tryOffers(deps, companyId, body.ids ?? []) : undefined
      const all = await inCompany(request, trx => applyRequested(deps, request, trx, body, tried))
      const [only] = all.length === 1 ? all : []
      const past = body.dry_run ? only?.backfill : undefined
      const bytes = past ? await estimateBackfill(deps, companyId, past) : null
      return { data: presentApplied(sumApplied(all), { isDryRun: body.dry_run, bytes }) }
    },
  }),
  route('POST', `${base}/dismiss`, access.write, {
    id: 'dismissRecommendations',
    description: 'Dismiss recommended checks',
    notes: 'They are not offered any more, whatever is found later, until they are restored.',
    validate: { payload: dismissBody },
    response: replies.changed,
    app: { isHeavy: true, errors: ['NOT_FOUND'] },
    handler: request =>
      inCompany(request, async trx => {
        const { ids, reason } = request.payload
        const by = actorOf(caller(request))
        const named = await dismissOffers(deps, trx, { ids, reason: reason || null, by })
        for (const { source, offers } of named)
          await auditRequest(request, trx, {
            action: 'recommendations.dismissed',
            target: { type: 'source', id: source.id },
            details: { count: offers.length, reason: reason || null, ids: idsOf(offers) },
          })
        return { data: { changed: ids.length } }
      }),
  }),
  route('POST', `${base}/restore`, access.write, {
    id: 'restoreRecommendations',
    description: 'Take the dismissal of recommended checks back',
    notes: 'They are offered again. Ids that were not dismissed are left as they are.',
    validate: { payload: restoreBody },
    response: replies.changed,
    app: { isHeavy: true },
    handler: request =>
      inCompany(request, async trx => {
        const { ids } = request.payload
        const changed = await removeDismissals(trx, ids)
        await auditRequest(request, trx, {
          action: 'recommendations.restored',
          target: { type: 'recommendation', id: ids[0]! },
          details: { count: changed, ids: ids.slice(0, MAX_AUDITED_IDS) },
        })
        return { data: { changed } }
      }),
  }),
  route('POST', `${base}/{id}/past`, access.write, {
    id: 'testRecommendation',
    description: 'Try a recommended check on the past of its table',
    notes:
      "Computes what it would have said in the last 60 days, from the table's own timestamps, by one or two statements at the source. One that would have alerted is not offered any more.",
    validate: { params: idParams },
    response: replies.past,
    app: { errors: ['NOT_FOUND', 'CONFLICT', 'UNAVAILABLE'] },
    handler: async request => {
      const { companyId } = caller(request)
      const [named] = await tryOffers(deps, companyId, [param(request, 'id')])
      return { data: presentOffer(named!.offers[0]!, deps.checks.labelOfType, { hasSeries: true }) }
    },
  }),
]

const MAX_AUDITED_IDS = 20

function idsOf(offers: readonly { suggestion: { id: string } }[]): string[] {
  return offers.slice(0, MAX_AUDITED_IDS).map(({ suggestion }) => suggestion.id)
}

/** @param tried what the body names, found and tried on the past */
async function applyRequested(
  deps: RecommendationsDeps,
  request: AnyRequest,
  trx: Transaction,
  body: ApplyBody,
  tried?: NamedOffers[],
) {
  const { catalog } = deps
  const who = { by: actorOf(caller(request)), isDryRun: body.dry_run, backfill: body.backfill }
  const all: AppliedRecommendations[] = []
  const apply = async (source: Source, work: () => Promise<AppliedRecommendations>) => {
    if (!body.dry_run) await catalog.lockSource(trx, source.id)
    const applied = await work()
    all.push(applied)
    if (!body.dry_run && Object.keys(applied.created).length > 0)
      await auditRequest(request, trx, {
        action: 'recommendations.applied',
        target: { type: 'source', id: source.id },
        details: { created: applied.created },
      })
  }
  if (body.ids)
    for (const { source, offers } of tried ?? (await findOffers(deps, trx, body.ids)))
      await apply(source, () => applyNamed(deps, trx, { ...who, source, offers }))
  else {
    const asset = await catalog.findAsset(trx, body.asset_id!)
    const wanted = { tableIds: tableIdsOf(asset), isWanted: matcherOf(body) }
    await apply(asset.source, () => applyOffers(deps, trx, { ...who, ...wanted, source: asset.source }))
  }
  return all
}
