import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import { v4 } from 'uuid'
import type { Schedule } from '../../checks/detector.ts'
import { insertAll, type Transaction } from '../../server/database/database.ts'
import { invalidField } from '../../server/http/errors.ts'
import { columnsOf } from '../../server/http/fields.ts'
import type { TableContext } from '../catalog/api.ts'
import type {
  Backfill,
  CheckRequest,
  ConfiguredCheck,
  MissingCheckRequest,
  MissingCheckResult,
} from '../scans/api.ts'
import { ruleFields, type NewRule } from './fields.ts'
import { activeAt, judgeRule, startState } from './judge.ts'
import { ValidityResult, ValidityRule, ValidityState, type NamedRule } from './models.ts'
import { periodsOf, rulesWithNames, scheduleOf } from './rules.ts'
import { newRule } from './schemas.ts'

/** Finds the body of a rule good for its table. No transaction is open while the engine is asked. */
export function configureRule(server: Server, companyId: string, assetId: string, body: NewRule) {
  return server.plugins.scans.configure(companyId, assetId, {
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
  }
}

/**
 * Makes a rule; it is due at once. With `backfill_days` it has learned the past of its table. `audit` is called in the same
 * transaction.
 */
export async function createRule(
  server: Server,
  companyId: string,
  assetId: string,
  body: NewRule,
  audit: (trx: Transaction, rule: NamedRule) => Promise<unknown>,
): Promise<{ rule: NamedRule; backfill?: Backfill['summary']; warnings: string[] }> {
  const { backfill_days: days, check_interval: interval } = body
  if (days !== undefined && body.detection_mode !== 'auto')
    throw invalidField('backfill_days', 'needs detection_mode auto, which learns from it')
  const configured = await configureRule(server, companyId, assetId, body)
  const past = days === undefined ? null : await server.plugins.scans.backfill(configured, { days, interval })
  return server.db.company(companyId, async trx => {
    const schedule = await scheduleOf(server, trx, periodsOf(body))
    const rule = await insertConfigured(trx, configured, body)
    if (past) await learnPast(trx, rule, past, schedule)
    await audit(trx, rule)
    return { rule, ...(past && { backfill: past.summary }), warnings: configured.warnings }
  })
}

/** The name of a rule that is given none. */
export function usualName(type: string, table: { name: string }, column: string | null): string {
  return `${type} ${[table.name, column].filter(Boolean).join('.')}`
}

/** The columns of a new rule but those of its source and its config. */
const ownColumns = (
  type: string,
  table: { id: string; name: string },
  column: string | null,
  body: object & { error_message?: string | null },
) => ({
  uuid: v4(),
  tableId: table.id,
  columnName: column,
  ruleType: type,
  name: usualName(type, table, column),
  ...columnsOf<ValidityRule>(ruleFields, body),
  errorMessage: body.error_message || null,
})

/** Creates rules of a type where columns have none of it, with the defaults of a new rule. */
export function createMissingRules(
  server: Server,
  trx: Transaction,
  request: MissingCheckRequest,
): Promise<MissingCheckResult> {
  const { source, type, interval, fields } = request
  return server.plugins.scans.createMissing(request, {
    find: ids =>
      ValidityRule.query(trx)
        .where({ ruleType: type, sourceId: source.id })
        .whereRaw('table_id = any(cast(? as uuid[]))', [ids])
        .select('tableId', 'columnName'),
    async insert(targets) {
      const body = Joi.attempt(
        { rule_type: type, table_path: 'any', check_interval: interval, ...fields },
        newRule,
      ) as NewRule
      const created = targets.map(({ table, column, config }) => ({
        ...{ sourceId: source.id, ruleConfig: storedConfig(config ?? {}) },
        ...ownColumns(type, table, column?.name ?? null, body),
      }))
      await insertAll(created, chunk => ValidityRule.query(trx).insert(chunk))
    },
  })
}

async function insertConfigured(trx: Transaction, { source, table, check }: ConfiguredCheck, body: NewRule) {
  const { type, column = null, config } = check
  const measured = { type: type.name, column, config: storedConfig(config) }
  const [rule] = await insertRules(trx, [{ context: { source, table }, measured, body }])
  return rule!
}

/** A config as it is stored: null of a type that takes none. */
export function storedConfig(config: Record<string, unknown>): ValidityRule['ruleConfig'] {
  return Object.keys(config).length === 0 ? null : config
}

/** A rule that is to be stored. */
interface RuleToStore {
  context: TableContext
  measured: { type: string; column: string | null; config: ValidityRule['ruleConfig'] }
  /** Its other fields, validated. */
  body: object
}

/** Stores rules. @returns them in the same order */
export async function insertRules(trx: Transaction, rules: readonly RuleToStore[]): Promise<NamedRule[]> {
  const created = rules.map(({ context: { source, table }, measured: { type, column, config }, body }) => ({
    ...{ sourceId: source.id, ruleConfig: config },
    ...ownColumns(type, table, column, body),
  }))
  await insertAll(created, chunk => ValidityRule.query(trx).insert(chunk))
  const stored = await rulesWithNames(trx).whereRaw('validity_rules.uuid = any(cast(? as uuid[]))', [
    created.map(({ uuid }) => uuid),
  ])
  const byId = new Map(stored.map(rule => [rule.uuid, rule]))
  return created.map(({ uuid }) => byId.get(uuid)!)
}

/** Stores past results as if they had been taken then, and what was learned of them. The past raises no alerts. */
async function learnPast(
  trx: Transaction,
  rule: NamedRule,
  { points }: Backfill,
  schedule: Schedule | undefined,
): Promise<void> {
  let state = startState(rule)
  const results = points.map(({ at, outcome }) => {
    const wasActive = activeAt(schedule, at)
    const said = judgeRule(rule, outcome, { at, wasActive }, state)
    state = said.state
    const stored = { validityRuleId: rule.id, executionDurationMs: 0, checkedAt: at, isBackfilled: true }
    return { ...stored, ...said.judged, wasActive }
  })
  await insertAll(results, chunk => ValidityResult.query(trx).insert(chunk))
  if (state) await ValidityState.query(trx).insert({ ruleId: rule.id, state })
}
