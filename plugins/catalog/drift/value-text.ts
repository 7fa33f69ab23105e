import type { SchemaDifference } from './diff.ts'

/** A value of a schema change, as it is stored: one of the shapes of `old_value` and `new_value` in `change-replies.ts`. */
type ChangeValue = ColumnValue | TableValue | ConstraintValue | { partition_of: string }

interface ColumnValue {
  name: string
  data_type: string
  nullable: boolean
  base_type?: string
  default?: string | null
  enum_labels?: string[]
  attributes?: string[]
  character_set?: string
  collation?: string
  auto_increment?: string
  on_update?: string
  generated?: string
}

interface TableValue {
  name: string
  type: string
  columns: number
}

interface ConstraintValue {
  name: string | null
  type: string
  columns: string[]
  references?: { table: string; columns: string[] }
  on_delete?: string
  on_update?: string
  match?: string
  deferrable?: true
  initially_deferred?: true
  nulls_not_distinct?: true
  prefix_lengths?: (number | null)[]
}

/**
 * One line that describes a value of a schema change: of a renamed column its name, of another column its type as in
 * `numeric(10,2) not null default 0`, of a constraint its definition, of a table its kind and size.
 */
export function describeChangeValue(value: object | null, changeType: string): string | null {
  if (value === null) return null
  const shown = value as ChangeValue
  if ('partition_of' in shown) return `partition of ${shown.partition_of}`
  if ('data_type' in shown) return changeType === 'column_renamed' ? shown.name : describeColumn(shown)
  if (typeof shown.columns === 'number')
    return `${shown.type}, ${shown.columns} ${shown.columns === 1 ? 'column' : 'columns'}`
  return describeConstraint(shown as ConstraintValue)
}

/** A change in few words: `column status removed`, `column total changed from integer to text`. */
export function describeDifference({
  changeType,
  objectName: name,
  oldValue,
  newValue,
}: Pick<SchemaDifference, 'changeType' | 'objectName' | 'oldValue' | 'newValue'>): string {
  const [before, after] = [oldValue, newValue].map(value => describeChangeValue(value, changeType))
  switch (changeType) {
    case 'table_added':
      return 'new table'
    case 'table_removed':
      return 'table removed'
    case 'column_added':
      return `new column ${name}${after == null ? '' : ` (${after})`}`
    case 'column_removed':
      return `column ${name} removed`
    case 'column_renamed':
      return `column ${name} renamed${after == null ? '' : ` to ${after}`}`
    case 'column_type_changed':
      return before == null || after == null
        ? `column ${name} changed`
        : `column ${name} changed from ${before} to ${after}`
    case 'constraint_changed':
      if (before == null) return `new constraint ${after ?? name}`
      return after == null ? `constraint removed: ${before}` : `constraint changed from ${before} to ${after}`
  }
}

function describeColumn({
  data_type: type,
  base_type: base,
  nullable,
  default: preset,
  ...properties
}: ColumnValue): string {
  const { enum_labels: labels, attributes } = properties
  return [
    base === undefined ? type : `${type} (${base})`,
    ...(labels ? [`(${labels.map(label => `'${label.replaceAll("'", "''")}'`).join(', ')})`] : []),
    ...(attributes ? [`(${attributes.join(', ')})`] : []),
    ...(properties.character_set ? [`character set ${properties.character_set}`] : []),
    ...(properties.collation ? [`collate ${properties.collation}`] : []),
    ...(nullable ? [] : ['not null']),
    ...(preset == null ? [] : [`default ${preset}`]),
    ...(properties.on_update ? [`on update ${properties.on_update}`] : []),
    ...(properties.generated ? [`generated ${properties.generated}`] : []),
    ...(properties.auto_increment ? [`auto increment ${properties.auto_increment.replace('_', ' ')}`] : []),
  ].join(' ')
}

function describeConstraint({ type, columns, references, ...properties }: ConstraintValue): string {
  const lengths = properties.prefix_lengths
  const parts = columns.map((column, place) =>
    lengths?.[place] == null ? column : `${column}(${lengths[place]})`,
  )
  const words = (name: string) => name.replaceAll('_', ' ')
  return [
    `${words(type)} (${parts.join(', ')})`,
    ...(references ? [`references ${references.table} (${references.columns.join(', ')})`] : []),
    ...(properties.match ? [`match ${properties.match}`] : []),
    ...(properties.on_delete ? [`on delete ${words(properties.on_delete)}`] : []),
    ...(properties.on_update ? [`on update ${words(properties.on_update)}`] : []),
    ...(properties.nulls_not_distinct ? ['nulls not distinct'] : []),
    ...(properties.deferrable ? ['deferrable'] : []),
    ...(properties.initially_deferred ? ['initially deferred'] : []),
  ].join(' ')
}
