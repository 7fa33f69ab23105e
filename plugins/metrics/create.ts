import type { Transaction } from '../../server/database/database.ts'
import { columnsOf } from '../../server/http/fields.ts'
import { validateBody } from '../../server/http/validate-body.ts'
import { fieldNamesOf } from '../../server/http/validation-messages.ts'
import type { TableContext } from '../catalog/api.ts'
import type { Backfill, CheckRequest, ConfiguredCheck } from '../checks/api.ts'
import { insertChecks, storePast, withWindow } from '../checks/kit.ts'
import type { MetricDeps } from './deps.ts'
import { metricFields, type NewMetric } from './fields.ts'
import { Metric, type NamedMetric } from './models.ts'
import type { MetricToMeasure } from './api.ts'
import { declaredMetric, newMetric } from './schemas.ts'
import { describeBreach, findBreach, requireSensibleThresholds, settingsOf } from './thresholds.ts'

/** Finds the body of a metric good for its table. No transaction is open while the engine is asked. */
export async function configureMetric(
  { checks }: Pick<MetricDeps, 'checks'>,
  companyId: string,
  assetId: string,
  body: NewMetric,
): Promise<ConfiguredCheck> {
  const tablePath = body.table_path
  const configured = await checks.configure(companyId, assetId, { tablePath, ...requestOf(body) })
  requireSensibleThresholds(configured.check.type, settingsOf(withWindow(body, configured.window)))
  return configured
}

/** Finds the body of a metric good for a loaded table, to measure it once. @throws 400 `VALIDATION_ERROR` */
export async function configureOnce(
  { checks }: Pick<MetricDeps, 'checks'>,
  table: TableContext,
  body: object,
): Promise<MetricToMeasure> {
  const metric = validateBody<NewMetric>(declaredMetric, body)
  const { check } = await checks.configureTable(table, requestOf(metric), true)
  const settings = settingsOf(metric)
  requireSensibleThresholds(check.type, settings)
  return {
    check,
    describeBreach(outcome) {
      if (outcome.status !== 'measured' || outcome.value === null) return null
      const { value } = outcome
      const breach = findBreach(settings, { at: 0, value }, [])
      return breach && describeBreach(settings, value, breach)
    },
  }
}

/** The names of a body that are no part of the config of a type. */
const OWN_FIELDS = new Set([
  'metric_type',
  'table_path',
  'column_name',
  'backfill_days',
  ...Object.keys(metricFields),
])

/** What a body asks for, wherever its table came from. */
export function requestOf({
  metric_type,
  column_name,
  group_by_columns,
  filter,
  ...rest
}: NewMetric): Omit<CheckRequest, 'tablePath'> {
  const config = Object.fromEntries(Object.entries(rest).filter(([name]) => !OWN_FIELDS.has(name)))
  return {
    family: 'metric',
    type: metric_type,
    typeField: 'metric_type',
    column: column_name,
    config,
    configField: undefined,
    otherFields: fieldNamesOf(newMetric),
    groupBy: group_by_columns,
    filter,
    window: rest,
  }
}

/**
 * Makes a metric; it is due at once. With `backfill_days` it has learned the past of its table. `audit` is called in the same
 * transaction.
 */
export async function createMetric(
  deps: MetricDeps,
  companyId: string,
  assetId: string,
  body: NewMetric,
  audit: (trx: Transaction, metric: NamedMetric) => Promise<unknown>,
): Promise<{ metric: NamedMetric; backfill?: Backfill['summary'] }> {
  const { backfill_days: days, capture_interval: interval } = body
  const configured = await configureMetric(deps, companyId, assetId, body)
  const past = days === undefined ? null : await deps.checks.backfill(configured, { days, interval })
  return deps.db.company(companyId, async trx => {
    const { type, column: columnName = null, config } = configured.check
    const measured = { type: type.name, columnName, config }
    const [metric] = await insertChecks(trx, Metric, [
      rowOf({ context: configured, measured, body: withWindow(body, configured.window) }),
    ])
    if (past) await storePast(trx, deps.kind, metric!, past)
    await audit(trx, metric!)
    return { metric: metric!, ...(past && { backfill: past.summary }) }
  })
}

/** A metric that is to be stored. */
interface MetricToStore {
  context: Pick<TableContext, 'source'> & { table: { id: string } }
  measured: Pick<Metric, 'type' | 'columnName' | 'config'>
  /** Its other fields, validated. */
  body: object
}

/** The columns of a new metric. */
export function rowOf({ context: { source, table }, measured, body }: MetricToStore) {
  const columns = columnsOf<Metric>(metricFields, body)
  return { sourceId: source.id, tableId: table.id, ...measured, ...columns }
}
