import type { TableKind } from '../../../connectors/catalog.ts'
import type { ContractNode } from '../elements.ts'
import {
  domainOf,
  type Clause,
  type ClauseKind,
  type ClauseSeverity,
  type Demand,
  type Domain,
} from './clause.ts'
import { customProperty, nodes, physicalName, textOf } from './document.ts'
import { indexColumns, readReference, type NamedColumns } from './relationships.ts'
import { listAgreements } from './sla.ts'

/** Clauses of one contract: each costs a row, and some a check. */
export const MAX_CLAUSES = 5_000

/** A part of the contract: its place, and how clauses name it. */
interface Part {
  node: ContractNode
  path: string
  table: string
  column: string | null
}

/**
 * Lists what a valid contract of version 3 promises, in its order. What promises nothing, such as descriptions, is no
 * clause.
 * @param extraColumns whether columns that the contract does not name break it, unless it says so itself
 * @param domains the parts to list; null for all
 */
export function listClauses(
  contract: ContractNode,
  extraColumns: 'allow' | 'fail',
  domains: readonly Domain[] | null = null,
): Clause[] {
  const clauses: Clause[] = []
  const keys = new Map<string, number>()
  const add = (
    { path, table, column }: Omit<Part, 'node'>,
    kind: ClauseKind,
    title: string,
    demand: Demand,
    more: { severity?: ClauseSeverity; key?: string; path?: string } = {},
  ) => {
    const name = [table, column, more.key ?? kind].filter(part => part !== null).join('/')
    const count = (keys.get(name) ?? 0) + 1
    keys.set(name, count)
    clauses.push({
      key: count === 1 ? name : `${name}#${count}`,
      kind,
      path: path + (more.path ?? ''),
      title,
      severity: more.severity ?? 'critical',
      table,
      column,
      demand,
    })
  }
  // Before 3.1, `date` was the only type of moments.
  const isWideDate = String(contract.apiVersion) < 'v3.1'
  const ofContract = extraPolicy(contract) ?? extraColumns
  const columns = indexColumns(contract)
  for (const [index, object] of nodes(contract.schema).entries()) {
    const table = physicalName(object)
    const part = { node: object, path: `/schema/${index}`, table, column: null }
    listOfObject(part, add, { columns, isWideDate, extras: extraPolicy(object) ?? ofContract })
  }
  for (const { path, title, table, column, demand } of listAgreements(contract))
    add({ path, table: table ?? '', column }, 'sla', title, demand, {
      severity: 'warning',
      key: `sla/${title.split(' ')[0]}`,
    })
  return clauses
    .filter(({ kind }) => domains?.includes(domainOf(kind)) ?? true)
    .map(clause => ({ ...clause, table: clause.table || null }))
}

type Add = (
  part: Omit<Part, 'node'>,
  kind: ClauseKind,
  title: string,
  demand: Demand,
  more?: { severity?: ClauseSeverity; key?: string; path?: string },
) => void

/** `extraColumns: allow` or `fail`, a custom property of a contract or an object. */
function extraPolicy(node: ContractNode): 'allow' | 'fail' | undefined {
  const given = customProperty(node, 'extraColumns')
  return given === 'allow' || given === 'fail' ? given : undefined
}

const TABLE_KINDS = new Map<string, TableKind>([
  ['table', 'table'],
  ['view', 'view'],
  ['materialized view', 'materialized_view'],
  ['materialized_view', 'materialized_view'],
  ['external table', 'external_table'],
])

/** What parts are read with. */
interface Terms {
  columns: NamedColumns
  isWideDate: boolean
}

function listOfObject(part: Part, add: Add, terms: Terms & { extras: 'allow' | 'fail' }): void {
  const { node: object, path, table } = part
  add(part, 'table', `${table} exists`, { of: 'table' })
  const kind = textOf(object.physicalType)
  if (kind !== undefined) {
    const known = TABLE_KINDS.get(kind.toLowerCase())
    const demand: Demand = known
      ? { of: 'table_kind', kind: known }
      : { of: 'nothing', reason: `${kind} is no kind of table that a catalog has` }
    add(part, 'type', `${table} is a ${kind}`, demand, { path: '/physicalType' })
  }
  const properties = nodes(object.properties)
  const columns = properties.map(physicalName)
  const key = properties
    .filter(({ primaryKey }) => primaryKey === true)
    .toSorted((a, b) => positionOf(a) - positionOf(b))
    .map(physicalName)
  if (key.length > 0)
    add(part, 'primary_key', `${table} has the key ${key.join(', ')}`, { of: 'primary_key', columns: key })
  if (terms.extras === 'fail' && columns.length > 0)
    add(part, 'extra_columns', `${table} has no other columns`, { of: 'extra_columns', columns })
  for (const [index, property] of properties.entries()) {
    const column = physicalName(property)
    const place = { node: property, path: `${path}/properties/${index}`, table, column }
    listOfProperty(place, add, { ...terms, isInKey: key.includes(column) })
  }
  for (const [index, relationship] of nodes(object.relationships).entries())
    addRelationship(part, add, terms.columns, { relationship, index })
  addQuality(part, add)
}

function positionOf({ primaryKeyPosition: position }: ContractNode): number {
  return typeof position === 'number' && position > 0 ? position : Number.MAX_SAFE_INTEGER
}

const OPTION_WORDS: Record<string, string> = {
  minimum: 'is at least',
  maximum: 'is at most',
  exclusiveMinimum: 'is greater than',
  exclusiveMaximum: 'is less than',
  pattern: 'matches',
}

function listOfProperty(part: Part, add: Add, terms: Terms & { isInKey: boolean }): void {
  const { node: property, table, column } = part
  const name = `${table}.${column}`
  add(part, 'column', `${name} exists`, { of: 'column' })
  const logicalType = textOf(property.logicalType)
  const physicalType = textOf(property.physicalType)
  if (logicalType !== undefined || physicalType !== undefined) {
    const types = [physicalType, logicalType].filter(type => type !== undefined)
    add(part, 'type', `${name} is of type ${[...new Set(types)].join(', ')}`, {
      of: 'type',
      ...(logicalType !== undefined && { logicalType }),
      ...(physicalType !== undefined && { physicalType }),
      isWideDate: terms.isWideDate,
    })
  }
  // The key covers both.
  if (property.required === true && !terms.isInKey)
    add(part, 'required', `${name} is never null`, { of: 'required' }, { path: '/required' })
  if (property.unique === true)
    add(part, 'unique', `${name} is unique`, { of: 'unique' }, { path: '/unique' })
  const options = Object.entries((property.logicalTypeOptions ?? {}) as Record<string, unknown>)
  const checks = nodes(property.customProperties).flatMap(({ property: name, value }) =>
    name === 'tidemarkCheck' ? [value] : [],
  )
  for (const [option, value] of options)
    add(
      part,
      'option',
      `${name} ${OPTION_WORDS[option] ?? `has ${option}`} ${shortText(value)}`,
      { of: 'option', option, value, checks },
      {
        severity: 'warning',
        key: `option/${option}`,
        path: `/logicalTypeOptions/${option}`,
      },
    )
  if (nodes(property.properties).length > 0 || property.items !== undefined)
    add(
      part,
      'type',
      `${name} has the nested fields of the contract`,
      { of: 'nothing', reason: 'fields inside a column are not looked into' },
      { key: 'nested', path: property.items === undefined ? '/properties' : '/items' },
    )
  for (const [index, relationship] of nodes(property.relationships).entries())
    addRelationship(part, add, terms.columns, { relationship, index })
  addQuality(part, add)
}

function addRelationship(
  part: Part,
  add: Add,
  columns: NamedColumns,
  { relationship, index }: { relationship: ContractNode; index: number },
): void {
  const to = [relationship.to].flat().map(shortText).join(', ')
  const found = readReference(columns, relationship, part)
  const column = 'reason' in found ? part.column : found.column
  const from = column === null ? part.table : `${part.table}.${column}`
  add(
    { ...part, column },
    'relationship',
    `${from} refers to ${to}`,
    'reason' in found ? { of: 'nothing', ...found } : { of: 'reference', ...found.parent },
    { key: 'relationship', path: `/relationships/${index}`, severity: 'warning' },
  )
}

const METRIC_WORDS: Record<string, string> = {
  nullValues: 'null values',
  missingValues: 'missing values',
  invalidValues: 'invalid values',
  duplicateValues: 'repeated values',
  rowCount: 'row count',
}

function addQuality(part: Part, add: Add): void {
  const { node, table, column } = part
  for (const [index, rule] of nodes(node.quality).entries()) {
    const metric = textOf(rule.metric) ?? textOf(rule.rule) ?? textOf(rule.type) ?? 'library'
    const own = textOf(rule.name) ?? textOf(rule.id)
    const title =
      own ??
      textOf(rule.description) ??
      `${METRIC_WORDS[metric] ?? metric} of ${column === null ? table : `${table}.${column}`}`
    add(
      part,
      'quality',
      shortText(title),
      { of: 'quality', rule },
      {
        severity: severityOf(rule.severity),
        key: `quality/${shortText(own ?? metric)}`,
        path: `/quality/${index}`,
      },
    )
  }
}

const SEVERITIES = new Map<string, ClauseSeverity>([
  ...['critical', 'blocker', 'high', 'error', 'fatal'].map(name => [name, 'critical'] as const),
  ...['info', 'low', 'minor'].map(name => [name, 'info'] as const),
])

function severityOf(severity: unknown): ClauseSeverity {
  return SEVERITIES.get(textOf(severity)?.toLowerCase() ?? '') ?? 'warning'
}

const MAX_TEXT_LENGTH = 120

function shortText(value: unknown): string {
  const text = (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).replaceAll(/\s+/g, ' ')
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH).toWellFormed()}…` : text
}
