import type { Transaction } from '../../server/database/database.ts'
import { invalidField } from '../../server/http/errors.ts'
import { columnsOf } from '../../server/http/fields.ts'
import type { TableContext } from '../catalog/api.ts'
import type { Backfill, CheckRequest } from '../checks/api.ts'
import type { ValidityDeps } from './deps.ts'
import { ruleFields, type NewRule } from './fields.ts'
import { ValidityRule, type NamedRule } from './models.ts'
import { periodsOf, requireAutoForDirection, scheduleOf } from './rules.ts'
import { insertChecks, storePast, withWindow } from '../checks/kit.ts'

/** Finds the body of a rule good for its table. No transaction is open while the engine is asked. */
export async function configureRule(
  { checks }: Pick<ValidityDeps, 'checks'>,
  companyId: string,
  assetId: string,
  body: NewRule,
) {
  requireAutoForDirection(body)
  return checks.configure(companyId, assetId, {
    tablePath: body.table_path,
    ...requestOf(body),
  })
}

/** What a body asks for, wherever its table came from. */
export function requestOf(body: Omit<NewRule, 'table_path'>): Omit<CheckRequest, 'tablePath'> {
  return {
    family: 'rule',
    type: body.rule_type,
    typeField: 'rule_type',
    column: body.column_name ?? undefined,
    config: body.rule_config ?? {},
    configField: 'rule_config',
    nullIsValid: body.treat_null_as_valid,
    filter: body.filter,
    window: body,
  }
}

/**
 * Makes a rule; it is due at once. With `backfill_days` it has learned the past of its table. `audit` is called in the same
 * transaction.
 */
export async function createRule(
  deps: ValidityDeps,
  companyId: string,
  assetId: string,
  body: NewRule,
  audit: (trx: Transaction, rule: NamedRule) => Promise<unknown>,
): Promise<{ rule: NamedRule; backfill?: Backfill['summary']; warnings: string[] }> {
  const { db, kind, checks } = deps
  const { backfill_days: days, check_interval: interval } = body
  if (days !== undefined && body.detection_mode !== 'auto')
    throw invalidField('backfill_days', 'needs detection_mode auto, which learns from it')
  const configured = await configureRule(deps, companyId, assetId, body)
  const past = days === undefined ? null : await checks.backfill(configured, { days, interval })
  return db.company(companyId, async trx => {
    const hours = await scheduleOf(deps, trx, periodsOf(body))
    const { type, column = null, config } = configured.check
    const measured = { type: type.name, column, config }
    const [rule] = await insertChecks(trx, ValidityRule, [
      rowOf({ context: configured, measured, body: withWindow(body, configured.window) }),
    ])
    if (past) await storePast(trx, kind, rule!, past, hours)
    await audit(trx, rule!)
    return { rule: rule!, ...(past && { backfill: past.summary }), warnings: configured.warnings }
  })
}

/** The name of a rule that is given none. */
export function usualName(type: string, table: { name: string }, column: string | null): string {
  return `${type} ${[table.name, column].filter(Boolean).join('.')}`
}

/** A rule that is to be stored. */
interface RuleToStore {
  context: Pick<TableContext, 'source'> & { table: { id: string; name: string } }
  measured: { type: string; column: string | null; config: Record<string, unknown> }
  /** Its other fields, validated. */
  body: object & { error_message?: string | null }
}

/** The columns of a new rule. */
export function rowOf({ context: { source, table }, measured: { type, column, config }, body }: RuleToStore) {
  return {
    sourceId: source.id,
    tableId: table.id,
    columnName: column,
    type,
    config,
    name: usualName(type, table, column),
    alertThresholdPercent: null,
    ...columnsOf<ValidityRule>(ruleFields, body),
    errorMessage: body.error_message || null,
  }
}
