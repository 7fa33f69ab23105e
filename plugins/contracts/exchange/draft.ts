import { stringify } from 'yaml'
import type { ColumnInfo, ColumnKind, ConstraintInfo } from '../../../connectors/catalog.ts'
import { formatName } from '../../../connectors/catalog.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { makePauses } from '../../../server/pauses.ts'
import type { Source, Table } from '../../catalog/api.ts'
import type { DeclaredCheck } from '../../checks/api.ts'
import type { ContractNode } from '../elements.ts'
import type { Domain } from '../enforcement/clause.ts'
import {
  agreementOf,
  isPromised,
  optionsOf,
  qualityOf,
  rangesOf,
  referenceTo,
  type DraftRule,
} from './draft-quality.ts'
import { trimEnd } from '../../../connectors/trim-end.ts'
import type { ContractsDeps } from '../deps.ts'

/** How a contract is written from the catalog. */
export interface DraftOptions {
  /** The parts to write. */
  domains: ReadonlySet<Domain>
  /** Whether custom properties name the checks that rules come from; another tool may not know them. */
  isExtended: boolean
  /** Whether rules are added that the rows keep, as the latest profiles show, and nothing checks. */
  isFromProfiles: boolean
}

const LOGICAL_TYPES: Partial<Record<ColumnKind, string>> = {
  integer: 'integer',
  decimal: 'number',
  float: 'number',
  text: 'string',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'timestamp',
  time: 'time',
  json: 'object',
}

/**
 * Writes a contract that tables keep now: types, keys and descriptions from the catalog, tags as classification, and the
 * checks that there are as quality rules and service levels.
 */
export async function draftContract(
  deps: ContractsDeps,
  trx: Transaction,
  { source, tables }: { source: Source; tables: readonly Table[] },
  { domains, isExtended, isFromProfiles }: DraftOptions,
): Promise<ContractNode> {
  const rules: (DraftRule & { tableId: string })[] = []
  const schedules: DeclaredCheck[] = []
  const wanted = new Set(tables.map(({ id }) => id))
  for (const kind of deps.checks.declaredKinds()) {
    const isWanted =
      ((kind.kind === 'validity' || kind.kind === 'metric') && domains.has('validity')) ||
      (kind.kind === 'freshness' && domains.has('freshness'))
    if (!isWanted) continue
    for (const check of await kind.list(trx, source)) {
      if (!wanted.has(check.tableId)) continue
      const { filter, window } = check.fields
      // The standard has no rules about some rows; of a count, the filter is part of its query.
      if (window != null || (kind.kind === 'validity' && filter != null)) continue
      if (kind.kind === 'freshness') schedules.push(check)
      else rules.push(check)
    }
  }
  if (isFromProfiles) {
    const kept = await deps.recommendations.listKept(trx, source, [...wanted])
    for (const { tableId, type, column, config } of kept)
      rules.push({ tableId, fields: { rule_type: type, column_name: column, rule_config: config } })
  }
  const rulesOf = Map.groupBy(rules, ({ tableId }) => tableId)
  const pause = makePauses()
  const objects: ContractNode[] = []
  for (const table of tables) {
    await pause()
    objects.push(draftObject(deps, source, table, rulesOf.get(table.id) ?? [], isExtended))
  }
  const byId = new Map(tables.map((table, place) => [table.id, objects[place]!]))
  const agreements = schedules.flatMap(
    schedule => agreementOf(schedule, String(byId.get(schedule.tableId)?.name)) ?? [],
  )
  const [only] = tables.length === 1 ? tables : []
  return {
    apiVersion: 'v3.1.0',
    kind: 'DataContract',
    id: idOf(only ? `${source.name}-${only.name}` : source.name),
    name: only?.name ?? source.name,
    version: '1.0.0',
    status: 'draft',
    ...(only?.comment && { description: { purpose: only.comment } }),
    ...(isExtended && { customProperties: [{ property: 'tidemarkSource', value: source.name }] }),
    schema: objects,
    ...(agreements.length > 0 && { slaProperties: agreements }),
  }
}

/** A contract as a file. It is written table by table, since others wait while YAML is: a second for 100,000 columns. */
export async function writeContract(document: ContractNode): Promise<string> {
  const write = (part: ContractNode) => stringify(part, { lineWidth: 120, aliasDuplicateObjects: false })
  const pause = makePauses()
  let text = ''
  for (const [name, value] of Object.entries(document)) {
    const isList = Array.isArray(value) && value.length > 0
    const parts = isList ? value.map((item: unknown) => ({ [name]: [item] })) : [{ [name]: value }]
    for (const [index, part] of parts.entries()) {
      await pause()
      const written = write(part)
      text += index === 0 ? written : written.slice(written.indexOf('\n') + 1)
    }
  }
  return text
}

/** Ids of the standard hold letters, digits, hyphens and underscores. */
function idOf(name: string): string {
  return trimEnd(name.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+/, ''), '-') || 'contract'
}

function draftObject(
  deps: ContractsDeps,
  source: Source,
  table: Table,
  rules: readonly DraftRule[],
  isExtended: boolean,
): ContractNode {
  const keys = table.constraints.filter(({ type }) => type !== 'foreign_key')
  const personal = deps.catalog.personalColumns({ source, table })
  const own = rules.filter(rule => columnOf(rule) === undefined)
  const quality = own.flatMap(rule => qualityOf(rule, isExtended) ?? [])
  return {
    name: table.name,
    physicalName: formatName([table.schemaName, table.name]),
    physicalType: table.kind.replaceAll('_', ' '),
    ...described(table.description ?? table.comment),
    ...(table.tags.length > 0 && { tags: table.tags }),
    properties: table.columns.map(column =>
      draftProperty(column, {
        keys,
        tags: Object.hasOwn(table.columnTags, column.name) ? (table.columnTags[column.name] ?? []) : [],
        isPersonal: personal.has(column.name),
        rules: rules.filter(rule => columnOf(rule) === column.name),
        isExtended,
      }),
    ),
    ...(quality.length > 0 && { quality }),
  }
}

function columnOf({ fields }: DraftRule): string | undefined {
  return typeof fields.column_name === 'string' ? fields.column_name : undefined
}

function described(text: string | null): { description?: string } {
  return text === null || text.trim() === '' ? {} : { description: text }
}

interface PropertyParts {
  keys: readonly ConstraintInfo[]
  tags: readonly string[]
  isPersonal: boolean
  rules: readonly DraftRule[]
  isExtended: boolean
}

function draftProperty(column: ColumnInfo, parts: PropertyParts): ContractNode {
  const { keys, tags, isPersonal, rules, isExtended } = parts
  const key = keys.find(({ type }) => type === 'primary_key')
  const position = key?.columns.indexOf(column.name) ?? -1
  const isKey = keys.some(({ columns }) => columns.length === 1 && columns[0] === column.name)
  // A rule without a check is one that the rows keep.
  const isKept = (type: string) =>
    rules.some(({ id, fields }) => id === undefined && fields.rule_type === type)
  const isUnique = isKey || isKept('UNIQUE')
  const isRequired = !column.nullable || isKept('NOT_NULL')
  const logicalType = LOGICAL_TYPES[column.kind]
  const options = logicalType === undefined ? {} : optionsOf(rules, logicalType)
  // Options have no custom properties of their own.
  const ranges = isExtended && logicalType !== undefined ? rangesOf(rules, logicalType) : []
  const references = ranges.flatMap(({ id }) => (id === undefined ? [] : referenceTo(id)))
  // No part of a key is null.
  const promised = { isRequired: isRequired || position >= 0, isUnique }
  const quality = rules
    .filter(rule => !isPromised(rule, promised))
    .flatMap(rule => qualityOf(rule, isExtended) ?? [])
  return {
    name: column.name,
    ...(logicalType !== undefined && { logicalType }),
    physicalType: column.type,
    ...described(column.comment),
    ...(position >= 0 && { primaryKey: true, primaryKeyPosition: position + 1 }),
    ...(isRequired && { required: true }),
    ...(isUnique && position < 0 && { unique: true }),
    ...((isPersonal || tags.length > 0) && { classification: isPersonal ? 'restricted' : tags[0] }),
    ...(tags.length > 0 && { tags }),
    ...(Object.keys(options).length > 0 && { logicalTypeOptions: options }),
    ...(references.length > 0 && { customProperties: references }),
    ...(quality.length > 0 && { quality }),
  }
}
