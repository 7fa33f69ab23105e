import type { Server } from '@hapi/hapi'
import { formatName } from '../../connectors/catalog.ts'
import { defaultsOf, presentFields, withoutDefaults } from '../../server/http/fields.ts'
import { validateBody } from '../../server/http/validate-body.ts'
import type { CheckResource } from '../scans/api.ts'
import { insertRules, requestOf, storedConfig, usualName } from './create.ts'
import { ruleFields, type NewRule } from './fields.ts'
import type { NamedRule, ValidityResult, ValidityRule } from './models.ts'
import { periodsOf, rulesWithNames, scheduleOf } from './rules.ts'
import { declaredRule } from './schemas.ts'

/** The columns that are no fields of `ruleFields`: what a rule measures. */
const FIXED_FIELDS = ['rule_type', 'column_name', 'rule_config'] as const

const DEFAULTS = { ...defaultsOf(ruleFields), is_active: true }

/** Rules as declarations of many checks list and create them. */
export function ruleDeclaration(server: Server): CheckResource<NamedRule, ValidityResult>['declaration'] {
  return {
    kind: 'validity',
    body: declaredRule,
    fixedFields: () => FIXED_FIELDS,
    engineFields: [],
    async list(trx, source) {
      const rules = await rulesWithNames(trx)
        .where('validityRules.sourceId', source.id)
        .select('tables.isActive as isTableActive')
        .orderBy('validityRules.id')
        .castTo<(NamedRule & { isTableActive: boolean })[]>()
      return rules.map(rule => ({
        id: `v_${rule.uuid}`,
        tableId: rule.tableId,
        tablePath: formatName([rule.catalogName, rule.schemaName, rule.ofTable]),
        isTableActive: rule.isTableActive,
        fields: fieldsOf(rule),
        body: withoutDefaults(fieldsOf(rule), {
          ...DEFAULTS,
          name: usualName(rule.ruleType, { name: rule.ofTable }, rule.columnName),
        }),
      }))
    },
    async read(table, body, asksEngine) {
      const rule = validateBody<NewRule>(declaredRule, body)
      const { check } = await server.plugins.scans.configureTable(table, requestOf(rule), asksEngine)
      const periods = periodsOf(rule)
      if (periods.operatingPeriodMode === 'schedule' || periods.operatingScheduleId !== null)
        await server.db.company(table.source.companyId, trx => scheduleOf(server, trx, periods))
      const column = check.column ?? null
      return {
        ...DEFAULTS,
        name: usualName(check.type.name, table.table, column),
        ...presentGiven(rule),
        error_message: rule.error_message || null,
        rule_type: check.type.name,
        column_name: column,
        rule_config: storedConfig(check.config),
      }
    },
    insert: (trx, checks) =>
      insertRules(
        trx,
        checks.map(({ table, fields }) => ({
          context: table,
          measured: {
            type: fields.rule_type as string,
            column: fields.column_name as string | null,
            config: fields.rule_config as ValidityRule['ruleConfig'],
          },
          body: fields,
        })),
      ),
  }
}

function fieldsOf(rule: ValidityRule) {
  return {
    rule_type: rule.ruleType,
    column_name: rule.columnName,
    // Some rules of a type that takes no config were stored with an empty one.
    rule_config: storedConfig(rule.ruleConfig ?? {}),
    ...presentFields(ruleFields, rule),
  }
}

/** The fields of `ruleFields` that a body has. */
function presentGiven(body: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(ruleFields).filter(name => body[name] !== undefined)
  return Object.fromEntries(names.map(name => [name, body[name]]))
}
