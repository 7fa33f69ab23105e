import Joi from 'joi'
import type { ValidityApi } from './api.ts'
import type { ValidityDeps } from './deps.ts'
import { dryRunRule, type RuleDryRun } from './dry-run.ts'
import { makeValidityKind } from './kind.ts'
import { scheduleUser } from './rules.ts'
import { ruleResource } from './routes.ts'
import { dryRun } from './schemas.ts'
import { feature } from '../../server/feature.ts'
import { configSchema } from '../../server/openapi/choices.ts'

/** Rules that say which values are valid, checked on schedule and on demand. */
export const validity = feature<ValidityApi>({
  name: 'validity',
  needs: ['catalog', 'checks', 'alerts', 'operatingSchedules'],
  tags: {
    validity: {
      title: 'Validity rules',
      group: 'Monitoring',
      order: 120,
      description: 'Rules for the values of columns.',
      page: '/guide/validity',
    },
  },
  make(server) {
    server.apiParts.choices.rule_config = () =>
      server.checks
        .all()
        .filter(({ family }) => family === 'rule')
        .map(({ name, config }) => configSchema(`${name}_RuleConfig`, config, `Of ${name}.`))
    const { db, checks: types } = server
    const { catalog, operatingSchedules, checks } = server.plugins
    const kind = makeValidityKind({ types })
    const deps: ValidityDeps = { db, types, catalog, operatingSchedules, checks, kind }
    checks.addKind(kind)
    operatingSchedules.addUser(scheduleUser)
    return {
      api: {
        dryRun: (companyId, body) => dryRunRule(deps, companyId, Joi.attempt(body, dryRun) as RuleDryRun),
      },
      routes: checks.routesOf(ruleResource(deps)),
    }
  },
})
