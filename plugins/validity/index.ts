import type { Plugin } from '@hapi/hapi'
import Joi from 'joi'
import { validityFailure } from './alert-kind.ts'
import type { ValidityApi } from './api.ts'
import { createMissingRules } from './create.ts'
import { dryRunRule, type RuleDryRun } from './dry-run.ts'
import { ValidityRule, type ValidityResult } from './models.ts'
import { describeResult } from './present.ts'
import { recordResults } from './record.ts'
import { checkSpecOf, listedRules, scheduleUser } from './rules.ts'
import { ruleResource } from './routes.ts'
import { dryRun } from './schemas.ts'
import { configSchema } from '../../server/openapi/choices.ts'
import type { ApiTag } from '../../server/openapi/tags.ts'

/** Rules that say which values are valid, checked on schedule and on demand. */
export const validity: Plugin<undefined> = {
  name: 'validity',
  dependencies: ['catalog', 'scans', 'alerts', 'operatingSchedules'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      validity: {
        title: 'Validity rules',
        group: 'Monitoring',
        order: 120,
        description: 'Rules for the values of columns.',
        page: '/api/public/docs/validity.md',
      },
    } satisfies Record<string, ApiTag>)
    server.typesInUse.push({
      what: 'check type',
      isLoaded: name => server.checks.has(name),
      names: 'select distinct rule_type as name from validity_rules',
    })
    server.apiParts.choices.rule_config = () =>
      server.checks
        .all()
        .filter(({ family }) => family === 'rule')
        .map(({ name, config }) => configSchema(`${name}_RuleConfig`, config, `Of rule_type ${name}.`))
    server.partitions.add({
      name: 'validity_results',
      retention: 'retentionResultsDays',
      tables: [{ table: 'validity_results', by: 'checked_at', unique: 'validity_rule_id, scheduled_for' }],
    })
    const checkNow = server.plugins.scans.contribute<ValidityRule, ValidityResult>({
      name: 'validity',
      model: ValidityRule,
      checks: rules => rules.map(checkSpecOf),
      record: (trx, table, taken, at) => recordResults(server, trx, table, taken, at),
      lastStatus: 'latest_status',
      describe: describeResult,
      list: listedRules,
    })
    server.plugins.alerts.addKind(validityFailure)
    server.plugins.operatingSchedules.addUser(scheduleUser)
    server.route(server.plugins.scans.routesOf(ruleResource(server, checkNow)))
    server.expose({
      createMissing: (trx, request) => createMissingRules(server, trx, request),
      dryRun: (companyId, body) => dryRunRule(server, companyId, Joi.attempt(body, dryRun) as RuleDryRun),
    } satisfies ValidityApi)
  },
}
