import { formatName } from '../../connectors/catalog.ts'
import { defaultsOf, patchKeys, presentFields, withoutDefaults } from '../../server/http/fields.ts'
import { validateBody } from '../../server/http/validate-body.ts'
import type { CheckResource, CheckToStore } from '../checks/api.ts'
import { requestOf, rowOf } from './create.ts'
import { metricFields, type NewMetric } from './fields.ts'
import { Metric } from './models.ts'
import { checksWithNames, withWindow } from '../checks/kit.ts'
import type { MetricDeps } from './deps.ts'
import { declaredMetric } from './schemas.ts'
import { requireSensibleThresholds, settingsOf } from './thresholds.ts'

/** The fields that a change may set; all others, those of the type among them, say what is measured. */
const CHANGEABLE_FIELDS: ReadonlySet<string> = new Set(Object.keys(patchKeys(metricFields)))

const DEFAULTS = { ...defaultsOf(metricFields), is_active: true }

/** Metrics as declarations of many checks list and create them. */
export function metricDeclaration({ checks }: MetricDeps): CheckResource<Metric>['declaration'] {
  return {
    kind: 'metric',
    body: declaredMetric,
    fixedFields: fields => Object.keys(fields).filter(name => !CHANGEABLE_FIELDS.has(name)),
    engineFields: [],
    async list(trx, source) {
      const metrics = await checksWithNames(trx, Metric)
        .where('checks.sourceId', source.id)
        .orderBy('checks.id')
      return metrics.map(metric => ({
        id: `m_${metric.uuid}`,
        tableId: metric.tableId,
        tablePath: formatName([metric.catalogName, metric.schemaName, metric.ofTable]),
        isTableActive: metric.isTableActive,
        owner: metric.ownerRef,
        fields: fieldsOf(metric),
        body: withoutDefaults(fieldsOf(metric), DEFAULTS),
      }))
    },
    async read(table, body, asksEngine) {
      const metric = validateBody<NewMetric & { is_active: boolean }>(declaredMetric, body)
      const { check, window } = await checks.configureTable(table, requestOf(metric), asksEngine)
      requireSensibleThresholds(check.type, settingsOf(withWindow(metric, window)))
      const fields: Record<string, unknown> = withWindow(metric, window)
      const given = Object.keys(metricFields).filter(name => fields[name] !== undefined)
      return {
        ...DEFAULTS,
        metric_type: check.type.name,
        column_name: check.column ?? null,
        ...check.config,
        ...Object.fromEntries(given.map(name => [name, fields[name]])),
      }
    },
    complete: (_table, body) => ({ column_name: null, ...DEFAULTS, ...body }),
    rowsOf: async (_trx, checks) => checks.map(newRow),
  }
}

function newRow({ table: context, fields }: CheckToStore) {
  const { metric_type: type, column_name: columnName, ...rest } = fields
  const own = new Set(Object.keys(metricFields))
  const config = Object.fromEntries(Object.entries(rest).filter(([name]) => !own.has(name)))
  const measured = { type: type as string, columnName: columnName as string | null, config }
  return rowOf({ context, measured, body: fields })
}

function fieldsOf(metric: Metric) {
  return {
    metric_type: metric.type,
    column_name: metric.columnName,
    ...metric.config,
    ...presentFields(metricFields, metric),
    direction: metric.direction ?? 'both',
    consecutive: metric.consecutive ?? 1,
  }
}
