import { tablePath } from '../../../connectors/catalog.ts'
import { fieldsOf as namesOf } from '../../../server/http/audit.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { hasCode } from '../../../server/http/errors.ts'
import { withoutDefaults } from '../../../server/http/fields.ts'
import { validateBody } from '../../../server/http/validate-body.ts'
import type { Source } from '../../catalog/api.ts'
import type { CheckFields, DeclaredChecks, NewDeclaredCheck, RecordEvent } from '../../checks/api.ts'
import { setOwners } from '../../checks/kit.ts'
import type { FreshnessDeps } from '../deps.ts'
import { freshnessKind } from '../kind.ts'
import { monitoredTables, tableRefOf, type MonitoredTable } from '../models.ts'
import { declaredSchedule } from '../schemas.ts'
import { assertExpression } from './expression.ts'
import {
  deleteSchedule,
  insertSchedule,
  patchSchedule,
  resolveTerms,
  scheduleEvent,
  type ScheduleFields,
} from './schedules.ts'
import { chooseSignal, readProfile, type SignalFields, type StoredSignal } from './signals.ts'

/** Freshness schedules as declarations of many checks list, create and change them. A table has one. */
export function scheduleDeclaration(deps: Pick<FreshnessDeps, 'alerts' | 'catalog' | 'db'>): DeclaredChecks {
  const { alerts, catalog, db } = deps
  const create = async (trx: Transaction, { table, fields }: NewDeclaredCheck, record: RecordEvent) => {
    const body = { ...patchOf(fields), is_active: fields.is_active as boolean }
    const schedule = await insertSchedule(catalog, trx, table, body)
    await record(scheduleEvent('created', schedule, { table: schedule.qualifiedName }))
    return schedule.uuid
  }
  return {
    kind: freshnessKind.name,
    alertKind: freshnessKind.alert.name,
    body: declaredSchedule,
    fixedFields: () => [],
    engineFields: ['freshness_expression'],
    async list(trx, source) {
      const schedules = await monitoredTables(trx).where('checks.sourceId', source.id).orderBy('checks.id')
      return schedules.map(schedule => ({
        id: schedule.uuid,
        tableId: schedule.tableId,
        tablePath: tablePath(tableRefOf(schedule)),
        isTableActive: schedule.isTableActive,
        fields: fieldsOf(schedule),
        owner: schedule.ownerRef,
        body: bodyOf(source, schedule),
      }))
    },
    async read(table, body, asksEngine) {
      const fields = validateBody<ScheduleFields & { is_active: boolean }>(declaredSchedule, body)
      const terms = resolveTerms(table.source, fields)
      const { companyId } = table.source
      const signal = await chooseSignal(catalog, table, fields, () =>
        db.company(companyId, trx => readProfile(catalog, trx, table.table.id)),
      )
      if (asksEngine !== false && signal.expression !== null)
        await assertExpression(catalog, table, signal.expression, asksEngine)
      return fieldsOf({
        monitoringMode: terms.mode,
        slaThreshold: terms.slaThreshold ?? null,
        checkInterval: terms.checkInterval,
        isActive: fields.is_active,
        ...signal,
      })
    },
    create: (trx, table, fields, record) => create(trx, { table, fields }, record),
    async createAll(trx, checks, record) {
      const ids: string[] = []
      for (const check of checks) ids.push(await create(trx, check, record))
      const owned = checks.flatMap(({ owner }, index) => (owner ? [{ id: ids[index]!, owner }] : []))
      if (owned.length > 0) await setOwners(trx, freshnessKind, owned)
      return ids
    },
    setOwners: (trx, owned) => setOwners(trx, freshnessKind, owned),
    update: (trx, { id }, changes, record) =>
      unlessGone(async () => {
        const patch = patchOf(changes)
        const schedule = await patchSchedule(deps, trx, id, patch)
        await record(scheduleEvent('updated', schedule, { fields: namesOf(patch) }))
      }),
    remove: (trx, { id }, record) =>
      unlessGone(async () => {
        const schedule = await deleteSchedule(alerts, trx, id)
        await record(scheduleEvent('removed', schedule, { table: schedule.qualifiedName }))
      }),
  }
}

type StoredTerms = StoredSignal &
  Pick<MonitoredTable, 'monitoringMode' | 'slaThreshold' | 'checkInterval' | 'isActive'>

function fieldsOf(schedule: StoredTerms): CheckFields {
  const { timestampColumn: column, expression, usesLastModified } = schedule
  const named = column !== null ? 'column' : expression !== null ? 'expression' : null
  return {
    monitoring_mode: schedule.monitoringMode,
    // A learned threshold replaces it; the default of the source may be stored nevertheless.
    sla_threshold: schedule.monitoringMode === 'explicit' ? schedule.slaThreshold : null,
    check_interval: schedule.checkInterval,
    freshness_signal: usesLastModified ? 'last_modified' : named,
    freshness_column: column,
    freshness_expression: expression,
    is_active: schedule.isActive,
  }
}

/** The least body that means the same whatever the defaults of a source and the columns that are added later. */
function bodyOf({ freshnessDefaults }: Source, schedule: MonitoredTable): Record<string, unknown> {
  const {
    monitoring_mode: mode,
    check_interval: interval,
    freshness_signal: signal,
    ...fields
  } = fieldsOf(schedule)
  const isUsualInterval = interval === '1h' && (freshnessDefaults?.check_interval ?? '1h') === '1h'
  return {
    // A threshold alone means the mode explicit.
    ...(mode === 'auto_learn' && { monitoring_mode: mode }),
    ...(signal === 'last_modified' && { freshness_signal: signal }),
    ...(!isUsualInterval && { check_interval: interval }),
    ...withoutDefaults(fields, { is_active: true }),
  }
}

/** Fields as bodies take them: one of those that choose a signal. */
function patchOf({
  freshness_signal: signal,
  freshness_column: column,
  freshness_expression: expression,
  sla_threshold: threshold,
  ...fields
}: CheckFields): ScheduleFields {
  const isDetected = [signal, column, expression].some(value => value !== undefined)
  const chosen: SignalFields =
    typeof expression === 'string'
      ? { freshness_expression: expression }
      : typeof column === 'string'
        ? { freshness_column: column }
        : signal === 'last_modified'
          ? { freshness_signal: signal }
          : isDetected
            ? { freshness_column: null }
            : {}
  return { ...fields, ...(typeof threshold === 'string' && { sla_threshold: threshold }), ...chosen }
}

async function unlessGone(work: () => Promise<void>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    if (hasCode(error, 'SCHEDULE_NOT_FOUND')) return false
    throw error
  }
}
