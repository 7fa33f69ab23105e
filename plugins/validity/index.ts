import type { Plugin } from '@hapi/hapi'
import Joi from 'joi'
import type { ValidityApi } from './api.ts'
import type { ValidityDeps } from './deps.ts'
import { dryRunRule, type RuleDryRun } from './dry-run.ts'
import { makeValidityKind } from './kind.ts'
import { scheduleUser } from './rules.ts'
import { ruleResource } from './routes.ts'
import { dryRun } from './schemas.ts'
import { configSchema } from '../../server/openapi/choices.ts'
import type { ApiTag } from '../../server/openapi/tags.ts'

/** Rules that say which values are valid, checked on schedule and on demand. */
export const validity: Plugin<undefined> = {
  name: 'validity',
  dependencies: ['catalog', 'checks', 'alerts', 'operatingSchedules'],
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
    server.apiParts.choices.rule_config = () =>
      server.checks
        .all()
        .filter(({ family }) => family === 'rule')
        .map(({ name, config }) => configSchema(`${name}_RuleConfig`, config, `Of rule_type ${name}.`))
    const { db, checks: types } = server
    const { catalog, operatingSchedules, checks } = server.plugins
    const kind = makeValidityKind({ types })
    const deps: ValidityDeps = { db, types, catalog, operatingSchedules, checks, kind }
    checks.addKind(kind)
    operatingSchedules.addUser(scheduleUser)
    server.route(checks.routesOf(ruleResource(deps)))
    server.expose({
      dryRun: (companyId, body) => dryRunRule(deps, companyId, Joi.attempt(body, dryRun) as RuleDryRun),
    } satisfies ValidityApi)
  },
}
