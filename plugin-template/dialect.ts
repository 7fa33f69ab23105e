import {
  defineDialect,
  raw,
  sampleByNumber,
  sql,
  substring,
  type Dialect,
  type Sql,
} from 'tidemark/connector'
import { comparison } from './comparison.ts'
import { lexicon } from './lexicon.ts'

/**
 * SQLite's differences to ANSI SQL. `regexp`, `is_date` and, on older Node, `percentile_cont` are functions
 * that reader/functions.ts adds.
 *
 * SQLite has no date types: a column declared DATE or TIMESTAMP holds whatever was stored, nearly always ISO
 * text, which sorts as the moments do; max() of it gives that text, not a Date.
 */
export const dialect: Dialect = defineDialect({
  lexicon,
  comparison,
  // JavaScript's regular expressions, since SQLite has none of its own.
  matches: (value, pattern) => sql`regexp(${pattern}, ${dialect.asText(value)})`,
  parsesAsDate: (value, format) => sql`is_date(${dialect.asText(value)}, ${format})`,
  percentile: (value, fraction) => sql`percentile_cont(${dialect.asNumber(value)}, ${fraction})`,
  countIf: condition => sql`count(*) filter (where ${condition})`,
  // A CASE would be compared without the collation of its column.
  countDistinctIf: (value, condition) => sql`count(distinct ${value}) filter (where ${condition})`,
  isNotTrue: condition => sql`(${condition}) is not true`,
  // A text in a numeric column, which SQLite allows, is no number; cast alone would make it 0.
  isNumber,
  asNumber: value => sql`case when ${isNumber(value)} then cast(${value} as real) end`,
  // SQLite has no NaN: the mean of infinities of both signs is NULL to it, as if there were no value.
  mean: value =>
    sql`coalesce(avg(${value}) filter (where ${isNumber(value)}),
      case when count(*) filter (where ${isNumber(value)}) > 0 then 9e999 end)`,
  // As for the mean: NULL of infinities of both signs.
  sum: value =>
    sql`case when count(*) filter (where ${isNumber(value)}) > 0
      then coalesce(sum(${dialect.asNumber(value)}), 9e999) end`,
  asText: value => sql`cast(${value} as text)`,
  textLength: text => sql`length(${text})`,
  // SQLite keeps JSON as text, and whatever it stores compares.
  isComparable: () => true,
  // A column of any type may hold texts and bytes.
  cutValue({ name }, length) {
    const value = dialect.quote(name)
    return sql`case when typeof(${value}) in ('text', 'blob') then ${substring(value, length)} else ${value} end`
  },
  // random() gives any integer of 64 bits.
  sample: (table, { fraction }) => sampleByNumber(table, raw('(abs(random() % 1000000) / 1e6)'), fraction),
  // Without its fraction, which would be rounded to milliseconds and may end in the next second; a number is a Unix time.
  epochSeconds: value =>
    sql`unixepoch(substr(${value}, 1, 19) || ltrim(substr(${value}, 20), '.0123456789'), 'auto')`,
  // Texts are compared: it sorts after the day with whatever follows it.
  lastMoment: '9999-12-31~',
  // Whatever a column is declared as, its texts say their zone themselves, or none does.
  isInstant: () => false,
  // BOOLEAN is a name only: numbers and texts are stored as they come.
  booleanStorage: () => 'any',
  // SQLite's own are 2,000 and 32,766.
  limits: { columns: 1000, values: 30_000 },
})

/** To SQLite each number is less than each text; asking for the type takes three times as long. */
function isNumber(value: Sql): Sql {
  return sql`${value} < ''`
}
