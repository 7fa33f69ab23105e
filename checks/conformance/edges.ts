import type { CheckType } from '../check.ts'
import type { CheckCase } from './case.ts'
import type { Deviation } from './test-database.ts'

/** The classes of edge cases that every built-in check has a case of, or a reason why it has none. */
export const EDGE_CLASSES = [
  'empty table',
  'all NULL',
  'zero',
  'one row',
  'NaN and infinity',
  'huge decimals',
  'text numbers',
  'dates with zones',
  'padded CHAR',
  'collations',
  'empty text and NULL',
  'booleans',
  'groups',
] as const
export type EdgeClass = (typeof EDGE_CLASSES)[number]

/** A cell of the matrix: its cases, of which one is called as the class unless it has a name. */
export type EdgeCell = readonly (Omit<CheckCase, 'name'> & { name?: string })[]

export type EdgeMatrix = Readonly<Record<string, Readonly<Partial<Record<EdgeClass, EdgeCell>>>>>

type EdgeColumn = Pick<CheckCase, 'values' | 'kind' | 'trait'>
type EdgeOptions = Partial<Omit<CheckCase, 'values' | 'expect'>>

/** A rule on a column, and how many rows are invalid. */
export function ruleEdge(column: EdgeColumn, invalid: number, more: EdgeOptions = {}): EdgeCell[number] {
  return { ...column, ...more, expect: { invalid } }
}

/** A metric of a column, and its value. */
export function metricEdge(
  column: EdgeColumn,
  value: number | null,
  more: EdgeOptions = {},
): EdgeCell[number] {
  return { ...column, ...more, expect: { value } }
}

/** A metric that has no number to give, and what it says. */
export function failingEdge(column: EdgeColumn, error: RegExp, more: EdgeOptions = {}): EdgeCell[number] {
  return { ...column, ...more, expect: { error } }
}

/** A case that has another number, or fails, on engines with a deviation. */
export function deviating(
  deviation: Deviation,
  other: number | RegExp,
  edge: EdgeCell[number],
): EdgeCell[number] {
  const number = 'invalid' in edge.expect ? { invalid: Number(other) } : { value: Number(other) }
  return { ...edge, expectIf: { [deviation]: other instanceof RegExp ? { error: other } : number } }
}

const HUGE = '123456789012345678901234567890'

/** The columns of the matrix. Checks share them, so that each table is made once. */
export const columns = {
  empty: { values: [] },
  emptyNumbers: { kind: 'integer', values: [] },
  nulls: { values: [null, null] },
  nullNumbers: { kind: 'integer', values: [null, null] },
  zeros: { kind: 'integer', values: [0, 0, null] },
  /** Minus zero is written with an exponent, since a number without one may lose its sign. */
  minusZero: { kind: 'float', values: ['-0e0', '0'] },
  one: { kind: 'integer', values: [7] },
  nans: { kind: 'float', trait: 'NaN', values: ['NaN', 'NaN', '1', null] },
  infinities: { kind: 'float', trait: 'infinity', values: ['Infinity', '-Infinity', '1', null] },
  huge: { kind: 'decimal', values: [HUGE, '1', null] },
  /** Two decimals that are one double. */
  exact: { kind: 'decimal', trait: 'exact', values: ['1234567.10000000000000000001', '1234567.1', null] },
  numerals: { values: ['1', '01', '1.0', null] },
  /** One moment twice, and one that is still the day before in UTC. */
  zoned: {
    kind: 'timestamp',
    trait: 'zoned',
    values: ['2024-01-01 00:00:00+00:00', '2024-01-01 01:00:00+01:00', '2024-01-01 00:30:00+01:00'],
  },
  padded: { trait: 'padded', values: ['a', 'a  ', 'b'] },
  blanks: { values: ['a', 'a  ', 'b'] },
  folded: { trait: 'case-insensitive', values: ['a', 'A', 'b'] },
  texts: { values: ['', null, 'a'] },
  booleans: { kind: 'boolean', values: [true, false, true, null] },
} as const satisfies Record<string, EdgeColumn>

export { HUGE }

/** The kinds of column that a class is about; of those without, every check has a case. */
const KINDS: Partial<Record<EdgeClass, NonNullable<CheckCase['kind']>>> = {
  zero: 'integer',
  'NaN and infinity': 'float',
  'huge decimals': 'decimal',
  'text numbers': 'text',
  'dates with zones': 'timestamp',
  'padded CHAR': 'text',
  collations: 'text',
  'empty text and NULL': 'text',
  booleans: 'boolean',
}

const LOOKS_AT_NO_VALUE = 'it compares no texts: only whether there is a value counts'
const IS_THE_USERS = "what it makes of values is the user's own SQL"
const LOOKS_AT_NO_COLUMN = 'it looks at no column'

/** Why a check has no case of a class, where its column kinds do not explain it. */
const REASONS: Readonly<Record<string, Readonly<Partial<Record<EdgeClass, string>>>>> = {
  NOT_NULL: { collations: LOOKS_AT_NO_VALUE },
  null_percent: { collations: LOOKS_AT_NO_VALUE },
  row_count: Object.fromEntries(Object.keys(KINDS).map(edge => [edge, LOOKS_AT_NO_COLUMN])),
  custom_sql: Object.fromEntries(Object.keys(KINDS).map(edge => [edge, IS_THE_USERS])),
}

/** Why a class does not apply to a check, or undefined when it does. */
export function whyNotApplicable(check: CheckType, edge: EdgeClass): string | undefined {
  const kind = KINDS[edge]
  if (edge === 'groups' && check.family === 'rule') return 'only metrics can be grouped'
  if (kind && check.kinds && !check.kinds.includes(kind)) return `it takes no columns of kind ${kind}`
  return REASONS[check.name]?.[edge]
}
