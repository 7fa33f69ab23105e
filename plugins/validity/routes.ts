import type { Request, Server, ServerRoute } from '@hapi/hapi'
import type { CheckOutcome } from '../../checks/check.ts'
import { access, caller, inCompany } from '../../server/http/access.ts'
import { auditorOf, fieldsOf } from '../../server/http/audit.ts'
import type { Transaction } from '../../server/database/database.ts'
import { bodyOf, param, queryOf } from '../../server/http/input.ts'
import { newestFirst, type Page, pageOf, pagination } from '../../server/http/page.ts'
import { ValidityResult, ValidityRule } from './models.ts'
import { presentResult, presentRule, presentRuleDetail, presentWarnings } from './present.ts'
import { replies } from './replies.ts'
import { createRule } from './create.ts'
import type { NewRule, RulePatch } from './fields.ts'
import { dryRun, type DryRun } from './dry-run.ts'
import { findRule, listOf, noRule, patchRule, summarize } from './rules.ts'
import * as schemas from './schemas.ts'

/** Checks a rule now; undefined when it is gone. */
type CheckNow = (
  rule: ValidityRule,
  choice: { sampleLimit: number },
) => Promise<{ result: ValidityResult; outcome: CheckOutcome } | undefined>

/** The routes of validity rules, their checks and results. */
export function routes(server: Server, checkNow: CheckNow): ServerRoute[] {
  const { catalog } = server.plugins
  const assetOf = (trx: Transaction, request: Request) => catalog.findAsset(trx, param(request, 'asset_id'))
  const ruleOf = async (trx: Transaction, request: Request) =>
    findRule(trx, await assetOf(trx, request), param(request, 'rule_id'))
  const ruleTypes = () => server.checks.all().flatMap(check => (check.family === 'rule' ? [check.name] : []))

  async function check(request: Request): Promise<object> {
    const { sample_limit: sampleLimit } = bodyOf<{ sample_limit: number } | null>(request) ?? {
      sample_limit: 10,
    }
    const rule = await inCompany(request, trx => ruleOf(trx, request))
    const checked = await checkNow(rule, { sampleLimit })
    if (!checked) throw noRule(param(request, 'rule_id'))
    const { result, outcome } = checked
    return {
      data: {
        ...presentResult(result, outcome.status === 'counted' ? outcome.samples : []),
        ...presentWarnings(outcome.warnings),
      },
    }
  }

  const base = '/api/v1/sdk/validity/{asset_id}'
  const tags = ['api', 'validity']
  const { assetParams, ruleParams } = schemas
  return [
    {
      method: 'GET',
      path: `${base}/summary`,
      options: {
        ...access.read,
        description: 'How the rules of an asset do',
        tags,
        validate: { params: assetParams },
        response: replies.summary,
      },
      handler: request =>
        inCompany(request, async trx => ({
          data: await summarize(trx, caller(request).companyId, await assetOf(trx, request)),
        })),
    },
    {
      method: 'GET',
      path: base,
      options: {
        ...access.read,
        description: 'List the rules of an asset',
        tags,
        validate: { params: assetParams, query: schemas.ruleList(ruleTypes) },
        response: replies.rules,
      },
      async handler(request) {
        const query = queryOf<Page & { rule_type?: string; is_active?: boolean }>(request)
        const { companyId } = caller(request)
        const [items, [counted]] = await catalog.readOf(companyId, param(request, 'asset_id'), id =>
          listOf(companyId, id, query),
        )
        return {
          data: { items: items.map(presentRule) },
          pagination: pagination(counted?.total ?? 0, query),
        }
      },
    },
    {
      method: 'POST',
      path: base,
      options: {
        ...access.write,
        description: 'Make a rule',
        tags,
        validate: { params: assetParams, payload: schemas.newRule },
        response: replies.made,
      },
      handler: async (request, h) => {
        const { companyId } = caller(request)
        const { rule, backfill, warnings } = await createRule(
          server,
          companyId,
          param(request, 'asset_id'),
          bodyOf<NewRule>(request),
          (trx, rule) => tell(request, trx, 'created', rule, { name: rule.name, rule_type: rule.ruleType }),
        )
        return h
          .response({
            data: { ...presentRule(rule), ...(backfill && { backfill }), ...presentWarnings(warnings) },
          })
          .code(201)
      },
    },
    {
      method: 'POST',
      path: '/api/v1/sdk/validity/dry-run',
      options: {
        ...access.read,
        description: 'Measure what a new rule would, and what its past says; nothing is stored',
        tags,
        validate: { payload: schemas.dryRun },
        response: replies.dryRun,
      },
      handler: async request => ({
        data: await dryRun(server, caller(request).companyId, bodyOf<DryRun>(request)),
      }),
    },
    {
      method: 'GET',
      path: `${base}/{rule_id}`,
      options: {
        ...access.read,
        description: 'A rule',
        tags,
        validate: { params: ruleParams },
        response: replies.rule,
      },
      handler: request =>
        inCompany(request, async trx => ({ data: presentRuleDetail(await ruleOf(trx, request)) })),
    },
    {
      method: 'PATCH',
      path: `${base}/{rule_id}`,
      options: {
        ...access.write,
        description: 'Change a rule',
        tags,
        validate: { params: ruleParams, payload: schemas.rulePatch },
        response: replies.rule,
      },
      handler: request =>
        inCompany(request, async trx => {
          const patch = bodyOf<RulePatch>(request)
          const rule = await patchRule(server, trx, await ruleOf(trx, request), patch)
          await tell(request, trx, 'updated', rule, { fields: fieldsOf(patch) })
          return { data: presentRuleDetail(rule) }
        }),
    },
    {
      method: 'DELETE',
      path: `${base}/{rule_id}`,
      options: {
        ...access.write,
        description: 'Remove a rule and its results',
        tags,
        validate: { params: ruleParams },
        response: replies.removed,
      },
      handler: request =>
        inCompany(request, async trx => {
          const rule = await ruleOf(trx, request)
          await ValidityRule.query(trx).deleteById(rule.id)
          await server.plugins.alerts.resolveOrphaned(trx, {
            type: 'validity_failure',
            causes: [`v_${rule.uuid}`],
          })
          await tell(request, trx, 'removed', rule, { name: rule.name })
          return { data: { success: true, message: `Rule ${rule.name} was removed` } }
        }),
    },
    {
      method: 'POST',
      path: `${base}/{rule_id}/check`,
      options: {
        ...access.write,
        description: 'Check a rule now',
        tags,
        validate: { params: ruleParams, payload: schemas.checkBody },
        response: replies.checked,
      },
      handler: check,
    },
    {
      method: 'GET',
      path: `${base}/{rule_id}/results`,
      options: {
        ...access.read,
        description: 'The results of a rule, newest first',
        tags,
        validate: { params: ruleParams, query: schemas.resultList },
        response: replies.results,
      },
      handler: request =>
        inCompany(request, async trx => {
          const page = queryOf<Page>(request)
          const { results, total } = await pageOf(
            ValidityResult.query(trx)
              .where('validityRuleId', (await ruleOf(trx, request)).id)
              .orderBy(newestFirst('checkedAt', 'id')),
            page,
          )
          return {
            data: { items: results.map(result => presentResult(result)) },
            pagination: pagination(total, page),
          }
        }),
    },
  ]
}

const tell = auditorOf('rule', ({ uuid }: ValidityRule) => `v_${uuid}`)
