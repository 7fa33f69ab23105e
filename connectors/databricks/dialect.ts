import { datePattern } from '../dates.ts'
import { defineDialect, percentileFraction, samplePercentage } from '../dialect.ts'
import { comparison } from './comparison.ts'
import { databricksLexicon } from './lexicon.ts'
import { raw, sql, type Sql } from '../sql.ts'
import { toDatabricksValue, type DatabricksValue } from './values.ts'

/** A named parameter of the Statement Execution API; one without a value is NULL. */
export interface DatabricksParameter {
  name: string
  value?: string
  type?: string
}

/** A statement of more parameters is refused: Databricks takes 256. */
const MAX_PARAMETERS = 256
/** How many values share one parameter where there are more. */
const VALUES_PER_PARAMETER = 100

const NULL_VALUE: DatabricksValue = { value: null, type: null }

/**
 * Databricks SQL's differences to ANSI SQL (https://docs.databricks.com/sql/language-manual).
 *
 * Things to know when writing conditions for it. It runs in ANSI mode: a text that is compared with a number or
 * a date is cast to that type and throws when it is none. NaN equals itself and is above every number. Names
 * are compared without regard to case. A naive bound compared with a TIMESTAMP is taken in the warehouse's
 * time zone, UTC unless its administrator has set TIMEZONE, and without sessions nothing here can set it.
 */
export const databricksDialect = defineDialect({
  lexicon: databricksLexicon,
  comparison,
  quote,
  table: ({ catalog, schema, name }) => sql`${quote(catalog)}.${quote(schema)}.${quote(name)}`,
  placeholder: position => `:p${position}`,
  countIf: condition => sql`count_if(${condition})`,
  matches: (value, pattern) => sql`regexp_like(${value}, ${pattern})`,
  parsesAsDate: (value, format) => sql`regexp_like(${value}, ${strictEnd(datePattern(format))})`,
  // A backslash begins an escape, and two quotes in a row end one text and begin the next.
  textLiteral: text => raw(`'${text.replaceAll(/[\\']/g, '\\$&')}'`),
  percentile: (value, fraction) => sql`percentile(cast(${value} as double), ${percentileFraction(fraction)})`,
  // A sum of integers is a BIGINT, which large ones overflow.
  sum: (value, column) =>
    column?.kind === 'integer' ? sql`sum(cast(${value} as decimal(38, 0)))` : sql`sum(${value})`,
  asText: value => sql`cast(${value} as string)`,
  approximateDistinct: value => sql`approx_count_distinct(${value})`,
  sample: (table, { fraction }) => sql`${table} tablesample (${samplePercentage(fraction)} percent)`,
  epochSeconds: epochSeconds,
  // As TIMESTAMP_LTZ it is written too; a TIMESTAMP_NTZ has no zone.
  isInstant: ({ type }) => /^timestamp\b/.test(type),
  isFloat32: ({ type }) => type === 'float',
  asFloat32: value => sql`cast(${value} as float)`,
  render,
  limits: { columns: 500, values: 2000 },
})

function quote(identifier: string): Sql {
  return raw(`\`${identifier.replaceAll('`', '``')}\``)
}

/**
 * A value without a zone becomes the moment at which clocks of the warehouse's zone show it; what they are ahead of
 * UTC is given back.
 */
function epochSeconds(value: Sql): Sql {
  const moment = sql`cast(${value} as timestamp)`
  return sql`unix_seconds(case when typeof(${value}) = 'timestamp' then ${moment} else from_utc_timestamp(${moment}, current_timezone()) end)`
}

/** The expressions are Java's, where a `$` also matches before a line break that ends the text. */
function strictEnd(pattern: string): string {
  return pattern.replace(/\$$/, '\\z')
}

/** The text with named parameters, of which several values share one where they are too many. */
function render(statement: Sql): { text: string; values: DatabricksParameter[] } {
  const wires = statement.values.map(toDatabricksValue)
  return wires.length > MAX_PARAMETERS ? renderPacked(statement, wires) : renderDirect(statement, wires)
}

function renderDirect(
  statement: Sql,
  wires: readonly DatabricksValue[],
): { text: string; values: DatabricksParameter[] } {
  const { text } = statement.render(position => {
    const name = `:p${position}`
    return wires[position - 1]?.type === 'BINARY' ? `unhex(${name})` : name
  })
  const values = wires.map(({ value, type }, index) => ({
    name: `p${index + 1}`,
    ...(value !== null && { value }),
    ...(type !== null && { type: type === 'BINARY' ? 'STRING' : type }),
  }))
  return { text, values }
}

/**
 * Numbers are written out, as they can hold nothing else; of the others a hundred share a parameter, which is a
 * JSON array of texts. Databricks takes it apart once, before it looks at rows.
 */
function renderPacked(
  statement: Sql,
  wires: readonly DatabricksValue[],
): { text: string; values: DatabricksParameter[] } {
  const shared: (string | null)[] = []
  const { text } = statement.render(position => {
    const { value, type } = wires[position - 1] ?? NULL_VALUE
    if (value === null) return 'null'
    // In parentheses, because a minus before a minus begins a comment.
    if (type === 'BIGINT') return `(${value})`
    const place = shared.push(value)
    const [pack, index] = [Math.ceil(place / VALUES_PER_PARAMETER), ((place - 1) % VALUES_PER_PARAMETER) + 1]
    const element = `element_at(from_json(:p${pack}, 'array<string>'), ${index})`
    if (type === 'BINARY') return `unhex(${element})`
    return type === null || type === 'STRING' ? element : `cast(${element} as ${type})`
  })
  const values = Array.from({ length: Math.ceil(shared.length / VALUES_PER_PARAMETER) }, (_, index) => ({
    name: `p${index + 1}`,
    value: JSON.stringify(shared.slice(index * VALUES_PER_PARAMETER, (index + 1) * VALUES_PER_PARAMETER)),
    type: 'STRING',
  }))
  return { text, values }
}
