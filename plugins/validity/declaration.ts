import { formatName } from '../../connectors/catalog.ts'
import { defaultsOf, presentFields, withoutDefaults } from '../../server/http/fields.ts'
import { validateBody } from '../../server/http/validate-body.ts'
import type { CheckFields, CheckResource } from '../checks/api.ts'
import { requestOf, rowOf, usualName } from './create.ts'
import type { ValidityDeps } from './deps.ts'
import { ruleFields, type NewRule } from './fields.ts'
import { consecutiveOf, ValidityRule } from './models.ts'
import { configOf, periodsOf, requireAutoForDirection, scheduleOf } from './rules.ts'
import { declaredRule } from './schemas.ts'
import { checksWithNames, withWindow } from '../checks/kit.ts'

/** What a rule measures. */
const FIXED_FIELDS = ['rule_type', 'column_name', 'rule_config', 'filter', 'time_column', 'window'] as const

const DEFAULTS = { ...defaultsOf(ruleFields), is_active: true }

/** Rules as declarations of many checks list and create them. */
export function ruleDeclaration(deps: ValidityDeps): CheckResource<ValidityRule>['declaration'] {
  return {
    kind: 'validity',
    body: declaredRule,
    fixedFields: () => FIXED_FIELDS,
    engineFields: [],
    async list(trx, source) {
      const rules = await checksWithNames(trx, ValidityRule)
        .where('checks.sourceId', source.id)
        .orderBy('checks.id')
      return rules.map(rule => ({
        id: `v_${rule.uuid}`,
        tableId: rule.tableId,
        tablePath: formatName([rule.catalogName, rule.schemaName, rule.ofTable]),
        isTableActive: rule.isTableActive,
        owner: rule.ownerRef,
        fields: fieldsOf(rule),
        body: withoutDefaults(fieldsOf(rule), {
          ...DEFAULTS,
          name: usualName(rule.type, { name: rule.ofTable }, rule.columnName),
        }),
      }))
    },
    async read(table, body, asksEngine) {
      const rule = validateBody<NewRule>(declaredRule, body)
      requireAutoForDirection(rule)
      const { check, window } = await deps.checks.configureTable(table, requestOf(rule), asksEngine)
      const periods = periodsOf(rule)
      if (periods.operatingPeriodMode === 'schedule' || periods.operatingScheduleId !== null)
        await deps.db.company(table.source.companyId, trx => scheduleOf(deps, trx, periods))
      const measured = { rule_type: check.type.name, column_name: check.column, rule_config: configOf(check) }
      return complete(table.table, withWindow({ ...rule, ...measured }, window))
    },
    complete,
    rowsOf: async (_trx, checks) =>
      checks.map(({ table, fields }) =>
        rowOf({
          context: table,
          measured: {
            type: fields.rule_type as string,
            column: fields.column_name as string | null,
            config: (fields.rule_config as ValidityRule['config'] | null) ?? {},
          },
          body: fields,
        }),
      ),
  }
}

/** The fields of a new rule. @param rule its body, good for the table */
function complete(table: { name: string }, rule: CheckFields): CheckFields {
  const { rule_type, column_name = null, rule_config = null, error_message } = rule as Partial<NewRule>
  return {
    ...DEFAULTS,
    name: usualName(rule_type!, table, column_name),
    ...presentGiven(rule),
    error_message: error_message || null,
    rule_type,
    column_name,
    rule_config,
  }
}

function fieldsOf(rule: ValidityRule) {
  return {
    rule_type: rule.type,
    column_name: rule.columnName,
    rule_config: configOf(rule),
    ...presentFields(ruleFields, rule),
    consecutive: consecutiveOf(rule),
  }
}

/** The fields of `ruleFields` that a body has. */
function presentGiven(body: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(ruleFields).filter(name => body[name] !== undefined)
  return Object.fromEntries(names.map(name => [name, body[name]]))
}
