import {
  raw,
  sql,
  type ColumnInfo,
  type ComparisonDialect,
  type Sql,
  type ValueFamily,
} from 'tidemark/connector'

/**
 * How SQLite's values are written for comparison with those of other engines. `md5_sum`, `md5_slot` and `unicode_lower` are
 * functions that reader/functions.ts adds.
 */
export const comparison: ComparisonDialect = {
  text,
  checksum: text => sql`md5_sum(${text})`,
  slot: (text, digits) => sql`md5_slot(${text}, ${raw(String(digits))})`,
  steps: (value, from, size) => sql`((${value} - ${raw(`(${from})`)}) / ${raw(String(size))})`,
  isSame: (one, other) => sql`${one} is ${other}`,
  bytes: text => sql`${text} collate binary`,
  comparesBytes: ({ properties }) => properties?.collation === undefined,
  round: (value, digits) => sql`round(${value}, ${raw(String(digits))})`,
  // A difference that is too large for an integer is a double here.
  wide: value => value,
  lower: text => sql`unicode_lower(${text})`,
  hasExactDecimals: false,
  cutMoment: (value, precision) => cutMoment(moment(value), LENGTHS[precision]),
  enforcesKeys: true,
}

/** Lengths of texts such as 2024-12-31 23:59:59.123456. */
const LENGTHS = { second: 19, millisecond: 23, microsecond: 26 } as const

function text(value: Sql, family: ValueFamily, _column: ColumnInfo): Sql {
  switch (family) {
    case 'number':
    case 'boolean':
      return plain(number(value))
    case 'timestamp':
      return plain(moment(value))
    case 'uuid':
      return sql`lower(cast(${value} as text))`
    // The digits of NULL are the empty text.
    case 'binary':
      return sql`case when ${value} is not null then lower(hex(${value})) end`
    case 'date':
    case 'time':
      return plain(sql`cast(${value} as text)`)
    case 'text':
    case 'json':
      return sql`cast(${value} as text)`
  }
}

/** A double with 15 digits where they are enough to say which one it is, else with 17; a whole one without a fraction. */
function number(value: Sql): Sql {
  return sql`case when typeof(${value}) <> 'real' then cast(${value} as text)
    when abs(${value}) < 1e15 and ${value} = cast(${value} as integer) then cast(cast(${value} as integer) as text)
    when cast(cast(${value} as text) as real) = ${value} then cast(${value} as text)
    else printf('%!.17g', ${value}) end`
}

/** Columns of numbers and moments take any text; what rows are joined with must not be taken for the end of one. */
function plain(text: Sql): Sql {
  return sql`case when instr(${text}, '|') + instr(${text}, '~') > 0 then 'x' || hex(${text}) else ${text} end`
}

/** Cuts what is a moment in UTC; what it is of any other text is not known. */
function cutMoment(text: Sql, length: number): Sql {
  return sql`case when ${text} glob '????-??-?? ??:??:??.*' and substr(${text}, 21) not glob '*[^0-9]*'
    then ${withoutTrailingZeros(sql`substr(${text}, 1, ${raw(String(length))})`)} else ${text} end`
}

/** The texts that moments are kept as, without T, Z and zeros at the end of a fraction. */
function moment(value: Sql): Sql {
  return withoutTrailingZeros(sql`replace(replace(cast(${value} as text), 'T', ' '), 'Z', '')`)
}

function withoutTrailingZeros(text: Sql): Sql {
  return sql`case when instr(${text}, '.') > 0 then rtrim(rtrim(${text}, '0'), '.') else ${text} end`
}
