import type { Server } from '@hapi/hapi'
import { stringify } from 'yaml'
import type { ColumnInfo, ColumnKind, ConstraintInfo } from '../../../connectors/catalog.ts'
import { formatName } from '../../../connectors/catalog.ts'
import type { Transaction } from '../../../server/database/database.ts'
import type { Source, Table } from '../../catalog/api.ts'
import type { KeptRule } from '../../recommendations/api.ts'
import type { DeclaredCheck } from '../../scans/api.ts'
import type { ContractNode } from '../elements.ts'
import type { Domain } from '../enforcement/clause.ts'
import { agreementOf, isPromised, keptQuality, optionsOf, qualityOf } from './draft-quality.ts'

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

const SOURCE_TYPES: Record<string, string> = { postgresql: 'postgres' }

/**
 * Writes a contract that tables keep now: types, keys and descriptions from the catalog, tags as classification, and the
 * checks that there are as quality rules and service levels.
 */
export async function draftContract(
  server: Server,
  trx: Transaction,
  { source, tables }: { source: Source; tables: readonly Table[] },
  { domains, isExtended, isFromProfiles }: DraftOptions,
): Promise<ContractNode> {
  const checks = new Map<string, DeclaredCheck[]>()
  const schedules: DeclaredCheck[] = []
  const wanted = new Set(tables.map(({ id }) => id))
  for (const kind of server.plugins.scans.declaredKinds()) {
    const isWanted =
      (kind.kind === 'validity' && domains.has('validity')) ||
      (kind.kind === 'freshness' && domains.has('freshness'))
    if (!isWanted) continue
    for (const check of await kind.list(trx, source)) {
      if (!wanted.has(check.tableId)) continue
      if (kind.kind === 'freshness') schedules.push(check)
      else checks.set(check.tableId, [...(checks.get(check.tableId) ?? []), check])
    }
  }
  const { recommendations } = server.plugins
  const kept = isFromProfiles ? await recommendations.listKept(trx, source, [...wanted]) : []
  const keptOf = Map.groupBy(kept, ({ tableId }) => tableId)
  const objects = tables.map(table =>
    draftObject(server, { source, table }, isExtended, {
      checks: checks.get(table.id) ?? [],
      kept: keptOf.get(table.id) ?? [],
    }),
  )
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

/** A contract as a file. */
export function writeContract(document: ContractNode): string {
  return stringify(document, { lineWidth: 120, aliasDuplicateObjects: false })
}

/** The type of a source as the standard names it. */
export function serverTypeOf({ sourceType }: Source): string {
  return SOURCE_TYPES[sourceType] ?? sourceType
}

/** Ids of the standard hold letters, digits, hyphens and underscores. */
function idOf(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replaceAll(/^-+|-+$/g, '') || 'contract'
}

/** What is checked of a table or a column, and what its rows keep besides. */
interface DraftRules {
  checks: readonly DeclaredCheck[]
  kept: readonly KeptRule[]
}

function draftObject(
  server: Server,
  { source, table }: { source: Source; table: Table },
  isExtended: boolean,
  { checks, kept }: DraftRules,
): ContractNode {
  const keys = table.constraints.filter(({ type }) => type !== 'foreign_key')
  const personal = server.plugins.catalog.personalColumns({ source, table })
  const own = checks.filter(check => columnOf(check) === undefined)
  const rules = own.flatMap(check => qualityOf(check, isExtended) ?? [])
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
        checks: checks.filter(check => columnOf(check) === column.name),
        kept: kept.filter(rule => rule.column === column.name),
        isExtended,
      }),
    ),
    ...(rules.length > 0 && { quality: rules }),
  }
}

function columnOf({ fields }: DeclaredCheck): string | undefined {
  return typeof fields.column_name === 'string' ? fields.column_name : undefined
}

function described(text: string | null): { description?: string } {
  return text === null || text.trim() === '' ? {} : { description: text }
}

interface PropertyParts extends DraftRules {
  keys: readonly ConstraintInfo[]
  tags: readonly string[]
  isPersonal: boolean
  isExtended: boolean
}

function draftProperty(column: ColumnInfo, parts: PropertyParts): ContractNode {
  const { keys, tags, isPersonal, checks, kept, isExtended } = parts
  const key = keys.find(({ type }) => type === 'primary_key')
  const position = key?.columns.indexOf(column.name) ?? -1
  const isKey = keys.some(({ columns }) => columns.length === 1 && columns[0] === column.name)
  const isUnique = isKey || kept.some(({ type }) => type === 'UNIQUE')
  const isRequired = !column.nullable || kept.some(({ type }) => type === 'NOT_NULL')
  const logicalType = LOGICAL_TYPES[column.kind]
  const options = logicalType === undefined ? {} : optionsOf(parts, logicalType)
  const rules = [
    ...checks
      // No part of a key is null.
      .filter(check => !isPromised(check, { isRequired: isRequired || position >= 0, isUnique }))
      .flatMap(check => qualityOf(check, isExtended) ?? []),
    ...kept.flatMap(rule => keptQuality(rule) ?? []),
  ]
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
    ...(rules.length > 0 && { quality: rules }),
  }
}
