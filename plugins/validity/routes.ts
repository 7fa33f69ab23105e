import type { Server } from '@hapi/hapi'
import type { Transaction } from '../../server/database/database.ts'
import { caller } from '../../server/http/access.ts'
import { newestFirst } from '../../server/http/page.ts'
import type { CheckNow, CheckResource } from '../scans/api.ts'
import { createRule } from './create.ts'
import { dryRunRule, type RuleDryRun } from './dry-run.ts'
import { ruleDeclaration } from './declaration.ts'
import type { NewRule } from './fields.ts'
import { ValidityResult, type NamedRule, type ValidityRule } from './models.ts'
import { presentResult, presentRule, presentRuleDetail, presentWarnings } from './present.ts'
import { replies } from './replies.ts'
import { findRule, patchRule, removeRule, ruleListReadings, summarize, type RuleFilter } from './rules.ts'
import * as schemas from './schemas.ts'

/** Validity rules as the API offers them. */
export function ruleResource(
  server: Server,
  checkNow: CheckNow<ValidityRule, ValidityResult>,
): CheckResource<NamedRule, ValidityResult> {
  const ruleTypes = () => server.checks.all().flatMap(check => (check.family === 'rule' ? [check.name] : []))
  return {
    names: {
      path: 'validity',
      one: 'rule',
      many: 'rules',
      id: 'rule_id',
      run: 'check',
      results: 'results',
      audit: 'rule',
      notFound: 'RULE_NOT_FOUND',
    },
    schemas: {
      id: schemas.ruleId,
      list: schemas.ruleList(ruleTypes),
      create: schemas.newRule,
      patch: schemas.rulePatch,
      run: schemas.checkBody,
    },
    bulk: { body: schemas.newRules, reply: replies.createdMany },
    replies,
    identify: ({ uuid, name }) => ({ id: `v_${uuid}`, title: `Rule ${name}`, details: { name } }),
    subjectOf: ({ tableId, ruleType: type, columnName: column }) => ({ tableId, type, column }),
    createdDetails: ({ ruleType }) => ({ rule_type: ruleType }),
    summarize,
    async list(request, assetId, query) {
      const { companyId } = caller(request)
      const [items, [counted]] = await server.plugins.catalog.readByAsset(request, assetId, id =>
        ruleListReadings(companyId, id, query as RuleFilter),
      )
      return { items: items.map(presentRule), total: counted?.total ?? 0 }
    },
    listReadings: (companyId, assetId, query) =>
      ruleListReadings(companyId, assetId.toLowerCase(), query as RuleFilter),
    async create(companyId, assetId, body, audit) {
      const { rule, backfill, warnings } = await createRule(
        server,
        companyId,
        assetId,
        body as NewRule,
        audit,
      )
      return { ...presentRuleDetail(rule), ...(backfill && { backfill }), ...presentWarnings(warnings) }
    },
    find: findRule,
    present: (_trx, rule) => presentRuleDetail(rule),
    patch: (trx, rule, patch) => patchRule(server, trx, rule, patch),
    remove: (trx, rule) => removeRule(server, trx, rule),
    async run(rule, body) {
      const { sample_limit: sampleLimit } = (body as { sample_limit: number } | null) ?? { sample_limit: 10 }
      const checked = await checkNow(rule, { sampleLimit })
      if (!checked) return undefined
      const { result, outcome } = checked
      return {
        ...presentResult(result, outcome.status === 'counted' ? outcome : { samples: [] }),
        ...presentWarnings(outcome.warnings),
      }
    },
    results: (trx, rule) =>
      ValidityResult.query(trx).where('validityRuleId', rule.id).orderBy(newestFirst('checkedAt', 'id')),
    presentResult: result => presentResult(result),
    presentChart: async (trx, rule) => ({
      threshold: rule.detectionMode === 'manual' ? (rule.alertThresholdPercent ?? 0) : null,
      operating_hours: await loadHoursOf(server, trx, rule),
    }),
    declaration: ruleDeclaration(server),
    dryRun: {
      body: schemas.dryRun,
      reply: replies.dryRun,
      measure: (companyId, body) => dryRunRule(server, companyId, body as RuleDryRun),
    },
  }
}

/** The hours that a rule judges by; those of its table where it judges by none. */
async function loadHoursOf(server: Server, trx: Transaction, rule: ValidityRule) {
  const { operatingPeriodMode: mode, operatingScheduleId: id, tableId } = rule
  const { operatingSchedules } = server.plugins
  const own = mode === 'schedule' && id !== null ? await operatingSchedules.loadHours(trx, [id]) : null
  return own?.get(id!) ?? operatingSchedules.loadHoursOfTable(trx, tableId)
}
