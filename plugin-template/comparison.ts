import {
  raw,
  sql,
  type ColumnInfo,
  type ComparisonDialect,
  type Sql,
  type ValueFamily,
} from 'tidemark/connector'

/**
 * How SQLite's values are written for comparison with those of other engines. `md5_sum` and `md5_slot` are functions that
 * reader/functions.ts adds.
 */
export const comparison: ComparisonDialect = {
  text,
  checksum: text => sql`md5_sum(${text})`,
  slot: text => sql`md5_slot(${text})`,
  steps: (value, from, size) => sql`((${value} - ${raw(`(${from})`)}) / ${raw(String(size))})`,
  bytes: text => sql`${text} collate binary`,
  round: (value, digits) => sql`round(${value}, ${raw(String(digits))})`,
}

function text(value: Sql, family: ValueFamily, _column: ColumnInfo): Sql {
  switch (family) {
    // A double that is a whole number would be printed as 5.0.
    case 'number':
    case 'boolean':
      return sql`case when typeof(${value}) = 'real' and abs(${value}) < 1e15 and ${value} = cast(${value} as integer)
        then cast(cast(${value} as integer) as text) else cast(${value} as text) end`
    case 'timestamp':
      return moment(value)
    case 'uuid':
      return sql`lower(cast(${value} as text))`
    // The digits of NULL are the empty text.
    case 'binary':
      return sql`case when ${value} is not null then lower(hex(${value})) end`
    case 'text':
    case 'date':
    case 'time':
    case 'json':
      return sql`cast(${value} as text)`
  }
}

/** The texts that moments are kept as, without T, Z and zeros at the end of a fraction. */
function moment(value: Sql): Sql {
  const plain = sql`replace(replace(cast(${value} as text), 'T', ' '), 'Z', '')`
  return sql`case when instr(${plain}, '.') > 0 then rtrim(rtrim(${plain}, '0'), '.') else ${plain} end`
}
