import type { Transaction } from '../../server/database/database.ts'
import { caller } from '../../server/http/access.ts'
import type { CheckResource } from '../checks/api.ts'
import { createRule } from './create.ts'
import type { ValidityDeps } from './deps.ts'
import { dryRunRule, type RuleDryRun } from './dry-run.ts'
import { ruleDeclaration } from './declaration.ts'
import type { NewRule, RulePatch } from './fields.ts'
import type { ValidityRule } from './models.ts'
import { presentResult, presentRule, presentRuleDetail, presentWarnings } from './present.ts'
import { replies } from './replies.ts'
import { changeOf, ruleListReadings, type RuleFilter } from './rules.ts'
import * as schemas from './schemas.ts'

/** Validity rules as the API offers them. */
export function ruleResource(deps: ValidityDeps): CheckResource<ValidityRule> {
  const { catalog, kind, types } = deps
  const ruleTypes = () => types.all().flatMap(check => (check.family === 'rule' ? [check.name] : []))
  return {
    kind,
    names: {
      path: 'validity',
      one: 'rule',
      many: 'rules',
      id: 'rule_id',
      run: 'check',
      results: 'results',
      audit: 'rule',
      notFound: 'RULE_NOT_FOUND',
      namedErrors: ['SCHEDULE_NOT_FOUND'],
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
    identify: ({ name }) => ({ title: `Rule ${name}`, details: { name } }),
    subjectOf: ({ tableId, type, columnName: column, filter, windowSize }) =>
      filter === null && windowSize === null ? { tableId, type, column } : null,
    createdDetails: ({ type }) => ({ rule_type: type }),
    presentSummary: ({ total, pass, fail, error }) => ({
      total_rules: total,
      passing: pass,
      failing: fail,
      error,
    }),
    async list(request, assetId, query) {
      const { companyId } = caller(request)
      const [items, [counted]] = await catalog.readByAsset(request, assetId, id =>
        ruleListReadings(companyId, id, query as RuleFilter),
      )
      return { items: items.map(presentRule), total: counted?.total ?? 0 }
    },
    async create(companyId, assetId, body, audit) {
      const { rule, backfill, warnings } = await createRule(deps, companyId, assetId, body as NewRule, audit)
      return { ...presentRuleDetail(rule), ...(backfill && { backfill }), ...presentWarnings(warnings) }
    },
    present: (_trx, rule) => presentRuleDetail(rule),
    changeOf: (trx, rule, patch) => changeOf(deps, trx, rule, patch as RulePatch),
    sampleLimitOf: body => (body as { sample_limit: number } | null)?.sample_limit ?? 10,
    wholeRowsOf: body => (body as { whole_rows: boolean } | null)?.whole_rows ?? false,
    presentRun: (_rule, [result], outcome) => ({
      ...presentResult(result!, outcome.status === 'counted' ? outcome : { samples: [] }),
      ...presentWarnings(outcome.warnings),
    }),
    presentResult: result => presentResult(result),
    presentChart: async (trx, rule) => ({
      threshold: rule.detectionMode === 'manual' ? (rule.alertThresholdPercent ?? 0) : null,
      operating_hours: await loadHoursOf(deps, trx, rule),
    }),
    declaration: ruleDeclaration(deps),
    dryRun: {
      body: schemas.dryRun,
      reply: replies.dryRun,
      measure: (companyId, body) => dryRunRule(deps, companyId, body as RuleDryRun, { hasCost: true }),
    },
  }
}

/** The hours that a rule judges by; null where it judges by none. */
async function loadHoursOf({ operatingSchedules }: ValidityDeps, trx: Transaction, rule: ValidityRule) {
  const { operatingPeriodMode: mode, operatingScheduleId: id } = rule
  if (mode !== 'schedule' || id === null) return null
  return (await operatingSchedules.loadHours(trx, [id])).get(id) ?? null
}
