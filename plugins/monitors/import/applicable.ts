/** Whether a converted check can be applied, as far as that is known without its server and its table. */
import { Ajv, type ValidateFunction } from 'ajv'
import { readDateFormat } from '../../../checks/date-format.ts'
import { compareDecimals } from '../../../checks/decimals.ts'
import { parseName } from '../../../connectors/catalog.ts'
import { SLA_THRESHOLD } from '../../../server/settings/durations.ts'
import { MONITORS_SCHEMA } from '../file/json-schema.ts'
import {
  MonitorsFileError,
  readDocument,
  type MonitorEntry,
  type MonitorKind,
} from '../file/monitors-file.ts'
import { isRecord } from './values.ts'

const { properties: KINDS } = MONITORS_SCHEMA.properties.tables.additionalProperties.properties.checks
const MAX_PATH_PARTS = 3

/** A check without its key. */
interface CheckToApply {
  kind: MonitorKind
  table: string
  body: Record<string, unknown>
}

const validators = new Map<MonitorKind, ValidateFunction>()

function validatorOf(kind: MonitorKind): ValidateFunction {
  const known = validators.get(kind)
  if (known) return known
  const ajv = new Ajv({ allowUnionTypes: true, strictTypes: false })
  const made = ajv.compile((KINDS[kind] as { items: object }).items)
  validators.set(kind, made)
  return made
}

/** Why an apply would refuse a check, or null. */
export function describeFault({ kind, table, body }: CheckToApply): string | null {
  const entry: MonitorEntry = { key: 'check', ...body }
  for (const path of [table, entry.parent_table_path ?? table]) {
    const parts = parseName(String(path))
    if (!parts || parts.includes('') || parts.length > MAX_PATH_PARTS)
      return `${JSON.stringify(path)} is no path of a table: catalog.schema.table, or less`
  }
  try {
    readDocument({ version: 1, source: 'source', tables: { [table]: { checks: { [kind]: [entry] } } } }, '')
  } catch (error) {
    if (!(error instanceof MonitorsFileError)) throw error
    return error.faults.map(({ message }) => message).join('; ')
  }
  const validate = validatorOf(kind)
  if (!validate(entry)) {
    const [fault] = validate.errors ?? []
    return `${(fault?.instancePath ?? '').slice(1).replaceAll('/', '.')} ${fault?.message ?? 'is not valid'}`.trim()
  }
  return describeConfigFault(kind, entry)
}

/** What the rule type, or the schedule, has against the settings. */
function describeConfigFault(kind: MonitorKind, entry: Record<string, unknown>): string | null {
  if (kind === 'freshness')
    return SLA_THRESHOLD.label('sla_threshold').validate(entry.sla_threshold).error?.message ?? null
  const config = isRecord(entry.rule_config) ? entry.rule_config : {}
  if (entry.rule_type === 'DATE_FORMAT') {
    const read = readDateFormat(String(config.format))
    return 'error' in read ? read.error : null
  }
  if (entry.rule_type !== 'RANGE') return null
  const { min, max } = config as { min?: number | string; max?: number | string }
  return min !== undefined && max !== undefined && compareDecimals(min, max) > 0
    ? `min ${min} is above max ${max}`
    : null
}
