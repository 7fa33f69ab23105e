import { tablePath } from '../../connectors/catalog.ts'
import type { Transaction } from '../../server/database/database.ts'
import type { Source, Table } from '../catalog/api.ts'
import type { ContractsApi } from '../contracts/api.ts'
import type { DeclaredCheck, ChecksApi } from '../checks/api.ts'
import type { Certainty } from './dependents.ts'

/** An active check that a change hits. */
export interface HitCheck {
  id: string
  kind: string
  name: string
  tablePath: string
  certainty: Certainty
}

/** A clause of a contract that a change hits. */
export interface HitClause {
  contract: string
  title: string
}

/** A check with its kind. */
export type SourceCheck = DeclaredCheck & { kind: string }

/** The active checks of a source, of all kinds. */
export async function readChecks(
  checks: ChecksApi,
  trx: Transaction,
  source: Source,
): Promise<SourceCheck[]> {
  const active: SourceCheck[] = []
  for (const kind of checks.declaredKinds())
    for (const check of await kind.list(trx, source))
      if (check.fields.is_active !== false) active.push({ ...check, kind: kind.kind })
  return active
}

/** Those of the checks of a source that read some tables, or a column of the only one. */
export function selectChecks(
  checks: readonly SourceCheck[],
  { tables, column }: { tables: readonly Table[]; column: string | undefined },
): HitCheck[] {
  const ids = new Set(tables.map(({ id }) => id))
  const paths = new Set(
    tables.map(table =>
      tablePath({ catalog: table.catalogName, schema: table.schemaName, name: table.name }),
    ),
  )
  const hits: HitCheck[] = []
  for (const check of checks) {
    const isParent = paths.has(String(check.fields.parent_table_path))
    if (!ids.has(check.tableId) && !isParent) continue
    const certainty = column === undefined ? 'certain' : useOf(check, column, ids.has(check.tableId))
    if (!certainty) continue
    const { id, kind, tablePath: path } = check
    hits.push({ id, kind, name: nameOf(check), tablePath: path, certainty })
  }
  return hits
}

function nameOf({ fields, tablePath: path }: DeclaredCheck): string {
  const type = fields.name ?? fields.rule_type ?? fields.metric_type
  if (typeof type === 'string' && type !== '') return type
  return `check of ${path}`
}

/** Whether a check uses a column: one of its fields names it, or a text of SQL has its name as a word. */
function useOf({ fields }: DeclaredCheck, column: string, isOwn: boolean): Certainty | null {
  if (!isOwn) return fields.parent_column_name === column ? 'certain' : null
  const named: string[] = []
  const texts: string[] = []
  collectTexts(fields, '', named, texts)
  if (named.includes(column)) return 'certain'
  const isWord = (text: string) =>
    text
      .toLowerCase()
      .split(/[^\p{L}\p{N}_$]+/u)
      .includes(column.toLowerCase())
  return texts.some(isWord) ? 'possible' : null
}

/** Texts in fields that name columns, and in others that may hold SQL. */
function collectTexts(value: unknown, field: string, named: string[], texts: string[]): void {
  if (typeof value === 'string') {
    if (/column/.test(field) && !field.startsWith('parent_')) named.push(value)
    else if (/sql|expression|query|condition|filter|where/.test(field)) texts.push(value)
  } else if (value !== null && typeof value === 'object') {
    for (const [name, inner] of Object.entries(value))
      collectTexts(inner, Array.isArray(value) ? field : name, named, texts)
  }
}

/** The clauses of contracts that a change hits. */
export async function findClauses(
  contracts: ContractsApi,
  trx: Transaction,
  tables: readonly Table[],
  column: string | undefined,
): Promise<HitClause[]> {
  const clauses = await contracts.listClauses(
    trx,
    tables.map(({ id }) => id),
  )
  return clauses
    .filter(({ columnName }) => column === undefined || columnName?.toLowerCase() === column.toLowerCase())
    .map(({ contract, title }) => ({ contract, title }))
}
