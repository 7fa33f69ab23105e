import type { ConnectorError } from './errors.ts'

export const COLUMN_KINDS = [
  'integer',
  'decimal',
  'float',
  'text',
  'boolean',
  'date',
  'timestamp',
  'time',
  'binary',
  'json',
  'other',
] as const
/**
 * What a column can be used for. Engines have hundreds of type names; checks ask only for these.
 */
export type ColumnKind = (typeof COLUMN_KINDS)[number]

/** The kinds that arithmetic works on; booleans are not numbers here. */
export const NUMERIC_KINDS: readonly ColumnKind[] = ['integer', 'decimal', 'float']

/** Kinds of columns with days or moments. */
export const TEMPORAL_KINDS: readonly ColumnKind[] = ['date', 'timestamp']

/** Where a table lives. Engines with fewer levels repeat the one below: MySQL `shop.shop`, SQLite `main.main`. */
export interface TableRef {
  catalog: string
  schema: string
  name: string
}

export const AUTO_INCREMENTS = ['always', 'by_default'] as const
export const GENERATED_KINDS = ['virtual', 'stored'] as const

/**
 * Properties of a column beside its type that decide which values it takes or how they compare. Each is present only where
 * it is not the engine's default.
 */
export interface ColumnProperties {
  /** The labels of its enumeration in their order, also of one in an array or under a domain. */
  labels?: string[]
  /** The attributes of its composite type in their order, each with its type: `amount numeric(10,2)`. */
  attributes?: string[]
  characterSet?: string
  collation?: string
  /** Numbers that the engine gives to new rows: always, or where a row brings none. */
  autoIncrement?: (typeof AUTO_INCREMENTS)[number]
  /** The expression that it is set to when its row is updated. */
  onUpdate?: string
  /** Whether the values of a generated column, whose expression is its `default`, are stored. */
  generated?: (typeof GENERATED_KINDS)[number]
}

/** A column as `introspect` reports it. */
export interface ColumnInfo {
  name: string
  /** 1-based position; gaps are allowed. */
  ordinal: number
  /** Canonical type: lower case except quoted names, synonyms folded, length, precision and scale kept: `varchar(20)`. */
  type: string
  /** The canonical type under a type that people made of another and named (PostgreSQL's domains). */
  base?: string
  /** The type as the engine spells it. */
  rawType: string
  kind: ColumnKind
  nullable: boolean
  /** The default expression as the engine prints it, or null. */
  default: string | null
  comment: string | null
  /** An identity that survives a rename, where the engine has one (PostgreSQL's attnum). */
  identity?: string
  /**
   * The name of its collation where texts of different characters may be equal by it, and the engine has no regular
   * expressions for such collations (PostgreSQL).
   */
  nondeterministicCollation?: string
  /** Whether the catalog says that its type has no equality: that its values cannot be grouped or counted distinctly. */
  isIncomparable?: true
  /** Absent where they are not known: the catalog does not have them, or they are not read. */
  properties?: ColumnProperties
}

export const REFERENTIAL_ACTIONS = ['no_action', 'restrict', 'cascade', 'set_null', 'set_default'] as const
/** What an engine does with a referring row when the row that it refers to goes or changes. */
export type ReferentialAction = (typeof REFERENTIAL_ACTIONS)[number]

/** Properties of a constraint beside its columns. Each is present only where it is not the engine's default. */
export interface ConstraintProperties {
  onDelete?: ReferentialAction
  onUpdate?: ReferentialAction
  match?: 'full' | 'partial'
  deferrable?: true
  initiallyDeferred?: true
  nullsNotDistinct?: true
  /** How many characters or bytes of each column count, in the order of `columns`; null where all of it does. */
  prefixLengths?: (number | null)[]
}

/** A primary key, foreign key or unique constraint; a unique index counts as a unique constraint. */
export interface ConstraintInfo {
  name: string
  type: 'primary_key' | 'foreign_key' | 'unique'
  columns: string[]
  /** Present for a foreign key, unless the role may not see the table that it refers to. */
  references?: { table: TableRef; columns: string[] }
  /** Absent where they are not known: the catalog does not have them, or hides them from the role. */
  properties?: ConstraintProperties
}

export const PARTITION_METHODS = ['range', 'list', 'hash', 'time'] as const

/** A column whose values decide in which partition a row lies. */
export interface PartitionColumn {
  name: string
  /** `time` is a unit of time for each partition. Absent where the catalog does not say it. */
  method?: (typeof PARTITION_METHODS)[number]
  /** The canonical type of a column of moments that is not among the table's columns, and can be named in its WHERE. */
  pseudoType?: string
}

/** How an engine keeps the rows of a table, so that a condition on these columns makes it read less. */
export interface TablePartitioning {
  /** Outermost first, without expressions; empty where rows are only clustered. */
  columns: PartitionColumn[]
  /** The columns of its cluster or sort key in their order, as far as they are columns. */
  clustering: string[]
  /** The engine refuses statements without a condition on a column of `columns`. */
  requiresFilter?: true
}

export const TABLE_KINDS = ['table', 'view', 'materialized_view', 'external_table'] as const
export type TableKind = (typeof TABLE_KINDS)[number]

/** A table or view as `introspect` reports it. */
export interface TableInfo extends TableRef {
  kind: TableKind
  comment: string | null
  columns: ColumnInfo[]
  constraints: ConstraintInfo[]
  /** An identity that survives a rename, where the engine has one (PostgreSQL's relation oid). */
  identity?: string
  /** Row count from the engine's statistics, where it has them. */
  estimatedRows?: number
  /** Absent where rows are neither partitioned nor clustered, or the catalog does not say it. */
  partitioning?: TablePartitioning
  /** Why its columns could not be read, of an object that is there all the same: a view over a dropped table. */
  columnsError?: ConnectorError
  /** Why its constraints could not be read, where its columns could: those that it had are then not known to be gone. */
  constraintsError?: ConnectorError
}

/** A column by which the rows of a table can be selected by their time: one of its own, or a pseudo column. */
export function findTimeColumn(
  { columns, partitioning }: Pick<TableInfo, 'columns' | 'partitioning'>,
  name: string,
): ColumnInfo | undefined {
  const own = columns.find(column => column.name === name)
  if (own) return own
  const type = partitioning?.columns.find(column => column.name === name)?.pseudoType
  if (type === undefined) return undefined
  return {
    name,
    ordinal: 0,
    type,
    rawType: type,
    kind: 'timestamp',
    nullable: true,
    default: null,
    comment: null,
  }
}

/** The value of `TableInfo.partitioning`: absent where there is nothing to say. */
export function partitioningOf(partitioning: TablePartitioning): Pick<TableInfo, 'partitioning'> {
  const { columns, clustering, requiresFilter } = partitioning
  return columns.length + clustering.length > 0 || requiresFilter ? { partitioning } : {}
}

const NEEDS_QUOTES_PATTERN = /[."\s]|^$/

/** One part of a qualified name, double-quoted when it holds a dot, a double quote or white space. */
function formatPart(part: string): string {
  return NEEDS_QUOTES_PATTERN.test(part) ? `"${part.replaceAll('"', '""')}"` : part
}

/** Joins the parts of a qualified name; `parseName(formatName(parts))` gives the parts back. */
export function formatName(parts: readonly string[]): string {
  return parts.map(formatPart).join('.')
}

/** `catalog.schema.table`, quoted where needed. */
export function tablePath(table: TableRef): string {
  return formatName([table.catalog, table.schema, table.name])
}

/**
 * Splits a qualified name into its parts, unquoting the quoted ones.
 * @returns the parts, or null when the text is not a qualified name (an empty part, a quote left open)
 */
export function parseName(text: string): string[] | null {
  const part = /(?:"((?:[^"]|"")*)"|([^."]+))(\.|$)/y
  const parts: string[] = []
  while (part.lastIndex <= text.length) {
    const match = part.exec(text)
    if (!match) return null
    parts.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
    if (match[3] === '') return part.lastIndex === text.length ? parts : null
  }
  return null
}

/**
 * Sorts tables by catalog, schema and name in code-unit order, their columns by ordinal, and their constraints by
 * type and name.
 */
export function sortTables<T extends TableInfo>(tables: T[]): T[] {
  for (const table of tables) {
    table.columns.sort((a, b) => a.ordinal - b.ordinal)
    table.constraints.sort((a, b) => compareParts([a.type, a.name], [b.type, b.name]))
  }
  const key = ({ catalog, schema, name }: TableRef) => [catalog, schema, name]
  return tables.sort((a, b) => compareParts(key(a), key(b)))
}

function compareParts(a: readonly string[], b: readonly string[]): number {
  const index = a.findIndex((part, position) => part !== b[position])
  if (index === -1) return 0
  return (a[index] ?? '') < (b[index] ?? '') ? -1 : 1
}
