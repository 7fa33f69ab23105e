import type { Schedule } from '../../checks/detector.ts'
import type { Readings, Transaction } from '../../server/database/database.ts'
import { invalidField } from '../../server/http/errors.ts'
import { columnsOf } from '../../server/http/fields.ts'
import type { Page } from '../../server/http/page.ts'
import type { ScheduleUse } from '../operating-schedules/api.ts'
import type { CheckChange } from '../checks/api.ts'
import type { ValidityDeps } from './deps.ts'
import { ruleFields, type NewRule, type RulePatch } from './fields.ts'
import { ValidityRule, type NamedRule } from './models.ts'
import { checksWithNames, lockChecksOfSchedule, relearn } from '../checks/kit.ts'

/** The config of a rule as the API has it: null of a type that takes none. */
export function configOf({ config }: Pick<ValidityRule, 'config'>): ValidityRule['config'] | null {
  return Object.keys(config).length === 0 ? null : config
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
  { operatingSchedules }: Pick<ValidityDeps, 'operatingSchedules'>,
  trx: Transaction,
  { operatingPeriodMode: mode, operatingScheduleId: id }: OperatingPeriods,
): Promise<Schedule | undefined> {
  if (id === null) {
    if (mode !== 'schedule') return undefined
    throw invalidField('operating_schedule_id', 'is required when operating_period_mode is schedule')
  }
  const { schedule } = await operatingSchedules.find(trx, id)
  return mode === 'schedule' ? schedule : undefined
}

/** @throws 400 `VALIDATION_ERROR` for a direction that a manual rule has no use for */
export function requireAutoForDirection({
  detection_mode: mode,
  direction,
}: Pick<RulePatch, 'detection_mode' | 'direction'>): void {
  if (mode !== 'auto' && direction !== undefined && direction !== null)
    throw invalidField('direction', 'needs detection_mode auto: a manual rule fails above its threshold')
}

/** What a patch changes, with the schedule that it names found. @throws 404 `SCHEDULE_NOT_FOUND` */
export async function changeOf(
  deps: Pick<ValidityDeps, 'operatingSchedules' | 'types'>,
  trx: Transaction,
  rule: ValidityRule,
  patch: RulePatch,
): Promise<CheckChange<ValidityRule>> {
  const periods: OperatingPeriods = {
    operatingPeriodMode: patch.operating_period_mode ?? rule.operatingPeriodMode,
    operatingScheduleId:
      patch.operating_schedule_id === undefined ? rule.operatingScheduleId : patch.operating_schedule_id,
  }
  const hasPeriods = patch.operating_period_mode !== undefined || patch.operating_schedule_id !== undefined
  if (hasPeriods) await scheduleOf(deps, trx, periods)
  requireAutoForDirection({ detection_mode: rule.detectionMode, ...patch })
  return {
    columns: { ...columnsOf<ValidityRule>(ruleFields, patch), ...(hasPeriods && periods) },
    isRelearned: changesBaseline(patch),
    isMeasuredAnew: before => changesMeasure(deps.types, before, patch),
  }
}

/**
 * Whether a patch makes a rule measure something else: NULL becomes valid, or invalid. Earlier results then say nothing
 * about later ones.
 */
function changesMeasure(
  types: ValidityDeps['types'],
  { type, treatNullAsValid }: ValidityRule,
  { treat_null_as_valid: nullIsValid = treatNullAsValid }: RulePatch,
): boolean {
  if (nullIsValid === treatNullAsValid) return false
  return !(types.has(type) && types.get(type).ignoresNullPolicy)
}

/** Whether a patch makes the same results be read in another way. */
function changesBaseline(patch: RulePatch): boolean {
  return [
    patch.detection_mode,
    patch.check_interval,
    patch.direction,
    patch.operating_period_mode,
    patch.operating_schedule_id,
  ].some(value => value !== undefined)
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
  | 'type'
  | 'name'
  | 'severity'
  | 'isActive'
  | 'checkInterval'
  | 'createdAt'
  | 'status'
>

export type RuleFilter = Page & { rule_type?: string; is_active?: boolean }

/** The statements that read one page of an asset's rules, newest first, and count them. */
export function ruleListReadings(
  companyId: string,
  assetId: string,
  filter: RuleFilter,
): Readings<[ListedRule, { total: number }]> {
  const given = (['rule_type', 'is_active'] as const).filter(name => filter[name] !== undefined)
  const columns = { rule_type: 'type', is_active: 'is_active' }
  const and = given.map(name => ` and ${columns[name]} = :${name}`).join('')
  const by = given.join(' ')
  const bindings = { company_id: companyId, asset: assetId, ...filter }
  // An asset is a table or a source, and of the other there is nothing.
  const [ofTable, ofSource] = ['table_id', 'source_id'].map(
    level => `from checks where company_id = :company_id and kind = 'validity' and ${level} = :asset${and}`,
  )
  // One by one, however many rows a plan for any page reckons with: no page needs all tables.
  const table =
    'select catalog_name, schema_name, name from tables where company_id = v.company_id and id = v.table_id limit 1'
  const page = 'order by created_at desc, id desc limit :limit offset :offset'
  return [
    {
      name: `rules ${by}`,
      text: `select v.id, v.uuid, t.catalog_name, t.schema_name, t.name as of_table, v.column_name, v.type, v.name,
          v.severity, v.is_active, v.check_interval, v.created_at, v.status
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
      .where({ tableId, isActive: true })
      .whereRaw("settings ->> 'operatingPeriodMode' = 'schedule'")
      .whereNotNull('operatingScheduleId')
      .distinct('operatingScheduleId')
    return found.map(({ operatingScheduleId: id }) => id!)
  },
  async list(trx: Transaction, id: string, limit: number): Promise<ScheduleUse[]> {
    const rules = await checksWithNames(trx, ValidityRule)
      .where('operatingScheduleId', id)
      .select('tables.qualifiedName as asset')
      .orderBy(['tables.qualifiedName', 'checks.id'])
      .limit(limit)
      .castTo<(NamedRule & { asset: string })[]>()
    return rules.map(({ uuid, name, asset }) => ({ id: `v_${uuid}`, name, asset }))
  },
  async onHoursChanged(trx: Transaction, id: string): Promise<void> {
    await relearn(trx, await lockChecksOfSchedule(trx, ValidityRule, id))
  },
}
