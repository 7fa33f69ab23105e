import type { Server } from '@hapi/hapi'
import { raw } from 'objection'
import type { Schedule } from '../../checks/detector.ts'
import { countByStatus, findByPublicId, whereAsset } from '../../server/database/asset-rows.ts'
import type { Readings, Transaction } from '../../server/database/database.ts'
import { rescheduled } from '../../server/database/due.ts'
import { invalidField } from '../../server/http/errors.ts'
import { columnsOf } from '../../server/http/fields.ts'
import type { Page } from '../../server/http/page.ts'
import type { Asset } from '../catalog/api.ts'
import type { ScheduleUse } from '../operating-schedules/api.ts'
import type { ListedChecks } from '../scans/api.ts'
import { relearn } from './baseline.ts'
import { ruleFields, type NewRule, type RulePatch } from './fields.ts'
import { NamedRule, ValidityRule } from './models.ts'
import { lockRulesOfSchedule, lockValidityRule } from './locks.ts'

/** What a rule wants measured of its table. */
export function checkSpecOf(rule: ValidityRule) {
  return {
    type: rule.ruleType,
    config: rule.ruleConfig ?? {},
    nullIsValid: rule.treatNullAsValid,
    ...(rule.columnName !== null && { column: rule.columnName }),
  }
}

/** What a body says of operating periods. */
export function periodsOf(body: Pick<NewRule, 'operating_period_mode' | 'operating_schedule_id'>) {
  return {
    operatingPeriodMode: body.operating_period_mode,
    operatingScheduleId: body.operating_schedule_id ?? null,
  }
}

type OperatingPeriods = Pick<ValidityRule, 'operatingPeriodMode' | 'operatingScheduleId'>

/**
 * The hours that a rule is judged by; undefined in other modes than `schedule`.
 * @throws 404 `SCHEDULE_NOT_FOUND`, also of one that is named and not used
 */
export async function scheduleOf(
  server: Server,
  trx: Transaction,
  { operatingPeriodMode: mode, operatingScheduleId: id }: OperatingPeriods,
): Promise<Schedule | undefined> {
  if (id === null) {
    if (mode !== 'schedule') return undefined
    throw invalidField('operating_schedule_id', 'is required when operating_period_mode is schedule')
  }
  const { schedule } = await server.plugins.operatingSchedules.find(trx, id)
  return mode === 'schedule' ? schedule : undefined
}

/**
 * Changes what is given; what the baseline depends on makes it be read from history again. A rule that is switched
 * off closes its alert, and what is being measured for it is not recorded.
 */
export async function patchRule(server: Server, trx: Transaction, rule: ValidityRule, patch: RulePatch) {
  const periods: OperatingPeriods = {
    operatingPeriodMode: patch.operating_period_mode ?? rule.operatingPeriodMode,
    operatingScheduleId:
      patch.operating_schedule_id === undefined ? rule.operatingScheduleId : patch.operating_schedule_id,
  }
  const hasPeriods = patch.operating_period_mode !== undefined || patch.operating_schedule_id !== undefined
  if (hasPeriods) await scheduleOf(server, trx, periods)
  // Once it is locked, a scan of it has been recorded, or will be by what is changed here.
  const before = await lockValidityRule(trx, { id: rule.id })
  if (!before) return undefined
  const isMeasuredAnew = changesMeasure(server, before, patch)
  await ValidityRule.query(trx)
    .findById(rule.id)
    .patch({
      ...rescheduled(columnsOf<ValidityRule>(ruleFields, patch)),
      ...(hasPeriods && periods),
      ...(isMeasuredAnew && restartBaseline(before)),
    })
  if (isMeasuredAnew || changesBaseline(patch)) await relearn(trx, [rule])
  if (patch.is_active === false)
    await server.plugins.alerts.resolveOrphaned(trx, { type: 'validity_failure', causes: [`v_${rule.uuid}`] })
  return rulesWithNames(trx).findById(rule.id).throwIfNotFound()
}

/**
 * Whether a patch makes a rule measure something else: NULL becomes valid, or invalid. Earlier results then say nothing
 * about later ones.
 */
function changesMeasure(
  server: Server,
  { ruleType, treatNullAsValid }: ValidityRule,
  { treat_null_as_valid: nullIsValid = treatNullAsValid }: RulePatch,
): boolean {
  if (nullIsValid === treatNullAsValid) return false
  return !(server.checks.has(ruleType) && server.checks.get(ruleType).ignoresNullPolicy)
}

/** The baseline starts without the results so far; what is being measured is not recorded but due again. */
function restartBaseline(rule: ValidityRule) {
  return {
    baselineAfter: raw(`(select coalesce(max(r.id), 0) from validity_results r
      where r.company_id = validity_rules.company_id and r.validity_rule_id = validity_rules.id)`),
    ...(rule.runningSlot && { nextRunAt: raw('least(next_run_at, running_slot)'), runningSlot: null }),
  }
}

/** Whether a patch makes the same results be read in another way. */
function changesBaseline(patch: RulePatch): boolean {
  return [
    patch.detection_mode,
    patch.check_interval,
    patch.operating_period_mode,
    patch.operating_schedule_id,
  ].some(value => value !== undefined)
}

/** A rule of an asset by `v_<uuid>` or integer id. */
export function findRule(trx: Transaction, asset: Asset, ruleId: string): Promise<NamedRule | undefined> {
  const columns = { prefix: 'v_', uuid: 'validityRules.uuid', number: 'validityRules.id' }
  return findByPublicId(whereAsset(rulesWithNames(trx), ValidityRule, asset), columns, ruleId)
}

/** Removes a rule with its results, and resolves its alert. */
export async function removeRule(server: Server, trx: Transaction, rule: ValidityRule): Promise<void> {
  await ValidityRule.query(trx).deleteById(rule.id)
  await server.plugins.alerts.resolveOrphaned(trx, { type: 'validity_failure', causes: [`v_${rule.uuid}`] })
}

/** A rule as lists show it. */
export type ListedRule = Pick<
  NamedRule,
  | 'id'
  | 'uuid'
  | 'catalogName'
  | 'schemaName'
  | 'ofTable'
  | 'columnName'
  | 'ruleType'
  | 'name'
  | 'severity'
  | 'isActive'
  | 'checkInterval'
  | 'createdAt'
  | 'latestStatus'
>

export type RuleFilter = Page & { rule_type?: string; is_active?: boolean }

/** The statements that read one page of an asset's rules, newest first, and count them. */
export function ruleListReadings(
  companyId: string,
  assetId: string,
  filter: RuleFilter,
): Readings<[ListedRule, { total: number }]> {
  const given = (['rule_type', 'is_active'] as const).filter(name => filter[name] !== undefined)
  const and = given.map(name => ` and ${name} = :${name}`).join('')
  const by = given.join(' ')
  const bindings = { company_id: companyId, asset: assetId, ...filter }
  // An asset is a table or a source, and of the other there is nothing.
  const [ofTable, ofSource] = ['table_id', 'source_id'].map(
    level => `from validity_rules where company_id = :company_id and ${level} = :asset${and}`,
  )
  // One by one, however many rows a plan for any page reckons with: no page needs all tables.
  const table =
    'select catalog_name, schema_name, name from tables where company_id = v.company_id and id = v.table_id limit 1'
  const page = 'order by created_at desc, id desc limit :limit offset :offset'
  return [
    {
      name: `rules ${by}`,
      text: `select v.id, v.uuid, t.catalog_name, t.schema_name, t.name as of_table, v.column_name, v.rule_type, v.name,
          v.severity, v.is_active, v.check_interval, v.created_at, v.latest_status
        from ((select * ${ofTable} ${page}) union all (select * ${ofSource} ${page})) v
        cross join lateral (${table}) t
        order by v.created_at desc, v.id desc`,
      bindings,
    },
    {
      name: `rules counted ${by}`,
      text: `select cast(n as int) as total from (select (select count(*) ${ofTable}) + (select count(*) ${ofSource}) as n) c
        where n > 0`,
      bindings,
    },
  ]
}

/** How the active rules of an asset did last. */
export async function summarize(trx: Transaction, asset: Asset): Promise<object> {
  const { total, pass, fail, error } = await countByStatus(trx, ValidityRule, 'latest_status', asset)
  return { total_rules: total, passing: pass, failing: fail, error }
}

/** Rules with the names of their tables. */
export function rulesWithNames(trx: Transaction) {
  return NamedRule.query(trx)
    .innerJoin('tables', 'tables.id', 'validityRules.tableId')
    .select('validityRules.*', 'tables.catalogName', 'tables.schemaName', 'tables.name as ofTable')
}

/**
 * Rules as users of operating schedules. Results keep the segment that they were stored with when its hours change;
 * those without one are judged by the new hours, so that the baseline is read again.
 */
export const scheduleUser = {
  name: 'rules',
  count: (trx: Transaction, id: string) =>
    ValidityRule.query(trx).where('operatingScheduleId', id).resultSize(),
  async listOfTable(trx: Transaction, tableId: string): Promise<string[]> {
    const found = await ValidityRule.query(trx)
      .where({ tableId, isActive: true, operatingPeriodMode: 'schedule' })
      .whereNotNull('operatingScheduleId')
      .distinct('operatingScheduleId')
    return found.map(({ operatingScheduleId: id }) => id!)
  },
  async list(trx: Transaction, id: string, limit: number): Promise<ScheduleUse[]> {
    const rules = await rulesWithNames(trx)
      .where('operatingScheduleId', id)
      .select('tables.qualifiedName as asset')
      .orderBy(['tables.qualifiedName', 'validityRules.id'])
      .limit(limit)
      .castTo<(NamedRule & { asset: string })[]>()
    return rules.map(({ uuid, name, asset }) => ({ id: `v_${uuid}`, name, asset }))
  },
  async onHoursChanged(trx: Transaction, id: string): Promise<void> {
    await relearn(trx, await lockRulesOfSchedule(trx, id))
  },
}

/** Rules in the list of all checks: their values are the percentages of invalid rows. */
export const listedRules: ListedChecks = {
  kind: 'validity',
  alertKind: 'validity_failure',
  checks: `select company_id, source_id, table_id, created_at, id as number, 'v_' || uuid as id, name, column_name,
      rule_type as type, severity, is_active, check_interval, latest_status as last_status, is_learning, status_rank,
      search_text, table_path, true as has_series
    from validity_rules`,
  results: `select r.id, r.checked_at as at, r.invalid_percent as value, r.status, r.expected_range_low as low,
      r.expected_range_high as high, r.is_learning
    from validity_results r where r.company_id = c.company_id and r.validity_rule_id = c.number
    order by r.checked_at desc, r.id desc`,
}
