import { domainOf } from '../../checks/check.ts'
import type { Domain } from '../../checks/detector.ts'
import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import { v4 } from 'uuid'
import { insertAll, type Transaction } from '../../server/database/database.ts'
import { columnsOf } from '../../server/http/fields.ts'
import { fieldNamesOf } from '../../server/http/validation-messages.ts'
import type { TableContext } from '../catalog/api.ts'
import type {
  Backfill,
  CheckRequest,
  ConfiguredCheck,
  MissingCheckRequest,
  MissingCheckResult,
} from '../scans/api.ts'
import { metricFields, type NewMetric } from './fields.ts'
import { groupValuesOf, judgeValue, startState } from './capture.ts'
import { metricsWithNames } from './metrics.ts'
import { newMetric } from './schemas.ts'
import { Metric, MetricState, Snapshot, type NamedMetric } from './models.ts'

/** Finds the body of a metric good for its table. No transaction is open while the engine is asked. */
export function configureMetric(
  server: Server,
  companyId: string,
  assetId: string,
  body: NewMetric,
): Promise<ConfiguredCheck> {
  const tablePath = body.table_path
  return server.plugins.scans.configure(companyId, assetId, { tablePath, ...requestOf(body) })
}

/** What a body asks for, wherever its table came from. */
export function requestOf({
  metric_type,
  column_name,
  group_by_columns,
  ...rest
}: NewMetric): Omit<CheckRequest, 'tablePath'> {
  const {
    capture_interval: _interval,
    sensitivity: _sensitivity,
    table_path: _path,
    is_active: _isActive,
    backfill_days: _days,
    ...config
  } = rest
  return {
    family: 'metric',
    type: metric_type,
    typeField: 'metric_type',
    column: column_name,
    config,
    configField: undefined,
    otherFields: fieldNamesOf(newMetric),
    groupBy: group_by_columns,
  }
}

/**
 * Makes a metric; it is due at once. With `backfill_days` it has learned the past of its table. `audit` is called in the same
 * transaction.
 */
export async function createMetric(
  server: Server,
  companyId: string,
  assetId: string,
  body: NewMetric,
  audit: (trx: Transaction, metric: NamedMetric) => Promise<unknown>,
): Promise<{ metric: NamedMetric; backfill?: Backfill['summary'] }> {
  const { backfill_days: days, capture_interval: interval } = body
  const configured = await configureMetric(server, companyId, assetId, body)
  const past = days === undefined ? null : await server.plugins.scans.backfill(configured, { days, interval })
  return server.db.company(companyId, async trx => {
    const metric = await insertConfigured(trx, configured, body)
    if (past) await learnPast(trx, metric, past, domainOf(configured.check.type))
    await audit(trx, metric)
    return { metric, ...(past && { backfill: past.summary }) }
  })
}

/** The columns of a new metric that do not depend on its table and type. */
const ownColumns = (body: object) => ({ id: v4(), ...columnsOf<Metric>(metricFields, body) })

/** Creates metrics of a type where tables or columns have none of it, with the defaults of a new metric. */
export function createMissingMetrics(
  server: Server,
  trx: Transaction,
  request: MissingCheckRequest,
): Promise<MissingCheckResult> {
  const { source, type, interval, fields } = request
  return server.plugins.scans.createMissing(request, {
    find: ids =>
      Metric.query(trx)
        .where({ metricType: type, sourceId: source.id })
        .whereRaw("group_by_columns = '{}' and table_id = any(cast(? as uuid[]))", [ids])
        .select('tableId', 'columnName'),
    async insert(targets) {
      const given = { metric_type: type, table_path: 'any', capture_interval: interval, ...fields }
      const body = Joi.attempt(given, newMetric) as NewMetric
      const configOf = (own = {}) => Joi.attempt(own, server.checks.get(type).config) as Metric['config']
      const created = targets.map(({ table, column, config }) => ({
        ...{ sourceId: source.id, tableId: table.id, columnName: column?.name ?? null },
        ...{ metricType: type, config: configOf(config) },
        ...ownColumns(body),
      }))
      await insertAll(created, chunk => Metric.query(trx).insert(chunk))
    },
  })
}

async function insertConfigured(
  trx: Transaction,
  { source, table, check }: ConfiguredCheck,
  body: NewMetric,
): Promise<NamedMetric> {
  const { type, column: columnName = null, config } = check
  const measured = { metricType: type.name, columnName, config }
  const [metric] = await insertMetrics(trx, [{ context: { source, table }, measured, body }])
  return metric!
}

/** A metric that is to be stored. */
interface MetricToStore {
  context: TableContext
  measured: Pick<Metric, 'metricType' | 'columnName' | 'config'>
  /** Its other fields, validated. */
  body: object
}

/** Stores metrics. @returns them in the same order */
export async function insertMetrics(
  trx: Transaction,
  metrics: readonly MetricToStore[],
): Promise<NamedMetric[]> {
  const created = metrics.map(({ context: { source, table }, measured, body }) => ({
    ...{ sourceId: source.id, tableId: table.id, ...measured },
    ...ownColumns(body),
  }))
  await insertAll(created, chunk => Metric.query(trx).insert(chunk))
  const stored = await metricsWithNames(trx).whereRaw('metrics.id = any(cast(? as uuid[]))', [
    created.map(({ id }) => id),
  ])
  const byId = new Map(stored.map(metric => [metric.id, metric]))
  return created.map(({ id }) => byId.get(id)!)
}

/** Stores past snapshots as if they had been taken then, and what was learned of them. The past raises no alerts. */
async function learnPast(
  trx: Transaction,
  metric: NamedMetric,
  { points }: Backfill,
  domain: Domain,
): Promise<void> {
  let state = startState(metric, domain)
  const snapshots = points.flatMap(({ at, outcome }) =>
    groupValuesOf(outcome).map(group => {
      const said = judgeValue(metric, group, at, state)
      state = said.state
      return { metricId: metric.internalId, capturedAt: at, isBackfilled: true, ...said.captured }
    }),
  )
  await insertAll(snapshots, chunk => Snapshot.query(trx).insert(chunk))
  await MetricState.query(trx).insert({ metricId: metric.internalId, groupValues: {}, state })
}
