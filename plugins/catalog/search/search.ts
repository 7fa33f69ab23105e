import type { Reading, Readings } from '../../../server/database/database.ts'

export interface SearchQuery {
  q: string
  limit: number
}

interface FoundSource {
  id: string
  name: string
  sourceType: string
}

interface FoundTable {
  id: string
  qualifiedName: string
  name: string
  kind: string
}

interface FoundColumn {
  tableId: string
  qualifiedName: string
  name: string
  dataType: string
}

/** How well a name matches a term in SQL: 0 equal, 1 begins with it, 2 contains it. Both are in lower case. */
function rankOf(name: string, term: string): string {
  return `case when ${name} = ${term} then 0 when starts_with(${name}, ${term}) then 1 else 2 end`
}

const TERM = 'lower(cast(:term as text))'

/** The statements that find the sources, tables and columns that a term names, the best matches first. */
export function searchReadings(
  companyId: string,
  { q, limit }: SearchQuery,
): Readings<[FoundSource, FoundTable, FoundColumn]> {
  const parts = q.split('.')
  const bindings = { company_id: companyId, term: q, limit }
  return [
    {
      name: 'search sources',
      text: `select id, name, source_type from sources where company_id = :company_id and strpos(lower(name), ${TERM}) > 0
        order by ${rankOf('lower(name)', TERM)}, length(name), name limit :limit`,
      bindings,
    },
    tableReading(parts, bindings),
    parts.length === 1 ? columnReading(bindings) : pathReading(parts, bindings),
  ]
}

interface SearchBindings extends Record<string, unknown> {
  term: string
}

/** Tables by name; with dots in the term by schema and name, or by as much of the qualified name. */
function tableReading(parts: readonly string[], bindings: SearchBindings): Reading<FoundTable> {
  // Nothing but the index of the list is read, whose order has no part in this: row-level security allows no other.
  const name = parts.length === 1 ? 'm.lower_name' : `lower(m.schema_name) || '.' || m.lower_name`
  const end = `lower(cast(:end as text))`
  const matching = `from tables m where m.company_id = :company_id and m.is_active and strpos(${name}, ${end}) > 0`
  const isLong = parts.length > 2
  return {
    name: `search tables ${Math.min(parts.length, 3)}`,
    text: `select t.id, t.qualified_name, t.name, t.kind
      from (select m.id, m.lower_name, ${rankOf(name, end)} as rank ${matching}
        ${isLong ? 'offset 0' : 'order by rank, length(m.lower_name), m.lower_name, m.id limit :limit'}) m
      join tables t on t.company_id = :company_id and t.id = m.id
      ${isLong ? `where strpos(lower(t.qualified_name), ${TERM}) > 0` : ''}
      order by m.rank, length(m.lower_name), m.lower_name, m.id limit :limit`,
    bindings: { ...bindings, end: parts.slice(-2).join('.') },
  }
}

/** Columns whose names begin with the term, or have a word that does. */
function columnReading(bindings: SearchBindings): Reading<FoundColumn> {
  return {
    name: 'search columns',
    text: `${selectColumns(TERM)}
      from tables t cross join lateral jsonb_array_elements(t.columns) c
      where t.company_id = :company_id and t.id = any(cast((select tables_with_columns(:term, :limit)) as uuid[]))
        and (starts_with(lower(c ->> 'name'), ${TERM}) or strpos(lower(c ->> 'name'), '_' || ${TERM}) > 0)
      ${COLUMN_ORDER}`,
    bindings,
  }
}

/** Tables whose columns are looked through for a term such as `orders.email`. */
const MAX_PATH_TABLES = 50

/** Columns that begin with the last part of a term, of tables that the part before it names. */
function pathReading(parts: readonly string[], bindings: SearchBindings): Reading<FoundColumn> {
  const [column = '', table = '', schema] = parts.toReversed()
  const name = `lower(cast(:column as text))`
  return {
    name: `search columns of ${schema === undefined ? 'tables' : 'schemas'}`,
    text: `${selectColumns(name)}
      from (select id, qualified_name, columns from tables where company_id = :company_id and is_active
          and lower_name = lower(cast(:table as text))
          ${schema === undefined ? '' : 'and lower(schema_name) = lower(cast(:schema as text))'}
        limit ${MAX_PATH_TABLES}) t
      cross join lateral jsonb_array_elements(t.columns) c
      where starts_with(lower(c ->> 'name'), ${name})
      ${COLUMN_ORDER}`,
    bindings: { ...bindings, column, table, ...(schema !== undefined && { schema }) },
  }
}

function selectColumns(term: string): string {
  return `select t.id as table_id, t.qualified_name, c ->> 'name' as name, c ->> 'type' as data_type,
    ${rankOf(`lower(c ->> 'name')`, term)} as rank`
}

const COLUMN_ORDER = `order by rank, length(c ->> 'name'), c ->> 'name', t.qualified_name limit :limit`
