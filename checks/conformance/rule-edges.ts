import { columns, deviating, HUGE, ruleEdge, type EdgeMatrix } from './edges.ts'

const DAYS = ['2024-02-29', '2023-02-29']
const exactly = { nullIsValid: true }

/** A CUSTOM_SQL of the column and a condition. */
const holds = (condition: string) => (column: string) => ({
  sql_expression: `"${column.replaceAll('"', '""')}" ${condition}`,
})

/** The matrix of the rules: what is invalid of each class of edge cases. */
export const ruleEdges: EdgeMatrix = {
  NOT_NULL: {
    'empty table': [ruleEdge(columns.empty, 0)],
    'all NULL': [ruleEdge(columns.nulls, 2)],
    zero: [ruleEdge(columns.zeros, 1)],
    'one row': [ruleEdge(columns.one, 0)],
    'NaN and infinity': [
      ruleEdge(columns.nans, 1, { name: 'NaN is not NULL' }),
      ruleEdge(columns.infinities, 1, { name: 'an infinity is not NULL' }),
    ],
    'huge decimals': [ruleEdge(columns.huge, 1)],
    'text numbers': [ruleEdge(columns.numerals, 1)],
    'dates with zones': [ruleEdge(columns.zoned, 0)],
    'padded CHAR': [ruleEdge({ trait: 'padded', values: ['', null] }, 1)],
    'empty text and NULL': [ruleEdge(columns.texts, 1)],
    booleans: [ruleEdge(columns.booleans, 1)],
  },
  UNIQUE: {
    'empty table': [ruleEdge(columns.empty, 0)],
    'all NULL': [ruleEdge(columns.nulls, 2)],
    zero: [ruleEdge(columns.zeros, 3), ruleEdge(columns.minusZero, 2, { name: 'minus zero is zero' })],
    'one row': [ruleEdge(columns.one, 0)],
    'NaN and infinity': [
      ruleEdge(columns.nans, 3, { name: 'NaN equals NaN' }),
      ruleEdge(columns.infinities, 1, { name: 'two infinities' }),
    ],
    'huge decimals': [
      ruleEdge(columns.huge, 1),
      deviating('decimals are doubles', 3, ruleEdge(columns.exact, 1, { name: 'digits beyond a double' })),
    ],
    'text numbers': [ruleEdge(columns.numerals, 1)],
    'dates with zones': [
      deviating('moments are texts', 0, ruleEdge(columns.zoned, 2, { name: 'one moment in two zones' })),
    ],
    'padded CHAR': [
      ruleEdge(columns.padded, 2),
      deviating('texts are padded', 2, ruleEdge(columns.blanks, 0, { name: 'trailing blanks' })),
    ],
    collations: [ruleEdge(columns.folded, 2)],
    'empty text and NULL': [
      ruleEdge(columns.texts, 1),
      ruleEdge({ values: ['', '', null] }, 2, { name: 'empty texts repeat', ...exactly }),
    ],
    booleans: [ruleEdge(columns.booleans, 3)],
  },
  REGEX: {
    'empty table': [ruleEdge(columns.empty, 0, { config: { pattern: 'a' } })],
    'all NULL': [ruleEdge(columns.nulls, 2, { config: { pattern: 'a' } })],
    zero: [ruleEdge(columns.zeros, 1, { config: { pattern: '^0$' } })],
    'one row': [ruleEdge(columns.one, 0, { config: { pattern: '^7$' } })],
    'huge decimals': [
      ruleEdge(columns.huge, 1, { config: { pattern: '^1' } }),
      ruleEdge(columns.exact, 1, {
        name: 'digits beyond a double',
        config: { pattern: '^1234567[.]10{18}1$' },
        ...exactly,
        expectIf: { 'decimals are doubles': { invalid: 2 } },
      }),
    ],
    'text numbers': [ruleEdge(columns.numerals, 3, { config: { pattern: '^1$' } })],
    'padded CHAR': [
      ruleEdge(columns.padded, 1, { name: 'padding is not matched', config: { pattern: '^a$' } }),
      ruleEdge(columns.blanks, 2, { name: 'trailing blanks are', config: { pattern: '^a$' } }),
    ],
    collations: [
      ruleEdge(columns.folded, 2, {
        name: 'case matters, or as the collation has it',
        config: { pattern: 'a' },
        expectIf: { 'patterns follow collations': { invalid: 1 } },
      }),
    ],
    'empty text and NULL': [ruleEdge(columns.texts, 1, { config: { pattern: '^$' }, ...exactly })],
  },
  RANGE: {
    'empty table': [ruleEdge(columns.emptyNumbers, 0, { config: { min: 0 } })],
    'all NULL': [ruleEdge(columns.nullNumbers, 2, { config: { min: 0 } })],
    zero: [
      ruleEdge(columns.zeros, 1, { config: { min: 0, max: 0 } }),
      ruleEdge(columns.minusZero, 0, { name: 'minus zero is zero', config: { min: 0 } }),
    ],
    'one row': [ruleEdge(columns.one, 0, { config: { min: 7, max: 7 } })],
    'NaN and infinity': [
      ruleEdge(columns.nans, 2, { name: 'NaN is in no range', config: { min: 0 }, ...exactly }),
      ruleEdge(columns.nans, 2, { name: 'NaN is not below', config: { max: 5 }, ...exactly }),
      ruleEdge(columns.infinities, 2, {
        name: 'infinities are beyond bounds',
        config: { min: 0, max: 5 },
        ...exactly,
      }),
      ruleEdge(columns.infinities, 1, { name: 'and within open ends', config: { min: 0 }, ...exactly }),
    ],
    'huge decimals': [
      ruleEdge(columns.huge, 1, { config: { min: 1, max: HUGE } }),
      ruleEdge(columns.huge, 2, { name: 'below a huge bound', config: { min: HUGE } }),
      ruleEdge(columns.exact, 1, {
        name: 'a decimal bound is exact',
        config: { max: '1234567.1' },
        ...exactly,
        expectIf: { 'decimals are doubles': { invalid: 0 } },
      }),
      ruleEdge(columns.exact, 1, {
        name: 'digits beyond a double',
        config: { min: '1234567.10000000000000000001' },
        ...exactly,
        expectIf: { 'decimals are doubles': { invalid: 0 } },
      }),
    ],
    'dates with zones': [
      ruleEdge(columns.zoned, 1, {
        name: 'moments with a zone',
        config: { min: '2024-01-01' },
        expectIf: { 'moments are texts': { invalid: 0 } },
      }),
      ruleEdge(columns.zoned, 2, {
        name: 'a last day is one of UTC',
        config: { max: '2023-12-31' },
        expectIf: { 'moments are texts': { invalid: 3 } },
      }),
    ],
  },
  ENUM: {
    'empty table': [ruleEdge(columns.empty, 0, { config: { allowed_values: ['a'] } })],
    'all NULL': [ruleEdge(columns.nulls, 2, { config: { allowed_values: ['a'] } })],
    zero: [
      ruleEdge(columns.zeros, 1, { config: { allowed_values: [0] } }),
      ruleEdge(columns.minusZero, 0, { name: 'minus zero is zero', config: { allowed_values: [0] } }),
    ],
    'one row': [ruleEdge(columns.one, 0, { config: { allowed_values: [7] } })],
    'NaN and infinity': [
      ruleEdge(columns.nans, 2, { name: 'NaN is not listed', config: { allowed_values: [1] }, ...exactly }),
      ruleEdge(columns.infinities, 2, {
        name: 'infinities are not listed',
        config: { allowed_values: [1] },
        ...exactly,
      }),
    ],
    'huge decimals': [
      ruleEdge(columns.huge, 1, { config: { allowed_values: [HUGE, 1] } }),
      ruleEdge(columns.exact, 1, {
        name: 'digits beyond a double',
        config: { allowed_values: ['1234567.1'] },
        ...exactly,
        expectIf: { 'decimals are doubles': { invalid: 0 } },
      }),
    ],
    'text numbers': [ruleEdge(columns.numerals, 3, { config: { allowed_values: [1] } })],
    'dates with zones': [
      ruleEdge(columns.zoned, 3, {
        name: 'a moment is not its day',
        config: { allowed_values: ['2024-01-01', '2023-12-31'] },
      }),
    ],
    'padded CHAR': [
      ruleEdge(columns.padded, 1, { config: { allowed_values: ['a'] } }),
      ruleEdge(columns.blanks, 2, {
        name: 'trailing blanks',
        config: { allowed_values: ['a'] },
        expectIf: { 'texts are padded': { invalid: 1 } },
      }),
    ],
    collations: [ruleEdge(columns.folded, 1, { config: { allowed_values: ['a'] } })],
    'empty text and NULL': [ruleEdge(columns.texts, 1, { config: { allowed_values: [''] }, ...exactly })],
    booleans: [ruleEdge(columns.booleans, 2, { config: { allowed_values: [true] } })],
  },
  DATE_FORMAT: {
    'empty table': [ruleEdge(columns.empty, 0, { config: { format: '%Y-%m-%d' } })],
    'all NULL': [ruleEdge(columns.nulls, 2, { config: { format: '%Y-%m-%d' } })],
    zero: [ruleEdge(columns.zeros, 3, { config: { format: '%Y%m%d' } })],
    'one row': [ruleEdge(columns.one, 1, { config: { format: '%Y%m%d' } })],
    'text numbers': [ruleEdge({ values: ['20240229', '20230229'] }, 1, { config: { format: '%Y%m%d' } })],
    'dates with zones': [ruleEdge(columns.zoned, 0, { config: { format: '%Y-%m-%d' } })],
    'padded CHAR': [ruleEdge({ trait: 'padded', values: DAYS }, 1, { config: { format: '%Y-%m-%d' } })],
    collations: [
      ruleEdge({ trait: 'case-insensitive', values: DAYS }, 1, { config: { format: '%Y-%m-%d' } }),
    ],
    'empty text and NULL': [ruleEdge(columns.texts, 3, { config: { format: '%Y-%m-%d' } })],
  },
  CUSTOM_SQL: {
    'empty table': [ruleEdge(columns.emptyNumbers, 0, { config: holds('>= 0') })],
    'all NULL': [ruleEdge(columns.nullNumbers, 2, { config: holds('>= 0') })],
    zero: [ruleEdge(columns.zeros, 1, { config: holds('= 0') })],
    'one row': [ruleEdge(columns.one, 0, { config: holds('= 7') })],
    'NaN and infinity': [
      ruleEdge(columns.nans, 2, {
        name: 'NaN is not below',
        config: holds('< 100'),
        ...exactly,
      }),
      ruleEdge(columns.infinities, 1, {
        name: 'an infinity is above',
        config: holds('< 100'),
        ...exactly,
      }),
    ],
    'huge decimals': [ruleEdge(columns.huge, 2, { config: holds('> 1') })],
    'text numbers': [ruleEdge(columns.numerals, 3, { config: holds("= '1'") })],
    'dates with zones': [
      deviating('moments are texts', 0, ruleEdge(columns.zoned, 1, { config: holds(">= '2024-01-01'") })),
    ],
    'padded CHAR': [ruleEdge(columns.padded, 1, { config: holds("= 'a'") })],
    collations: [ruleEdge(columns.folded, 1, { config: holds("= 'a'") })],
    'empty text and NULL': [ruleEdge(columns.texts, 2, { config: holds("= ''") })],
    booleans: [ruleEdge(columns.booleans, 2, { config: holds('= true') })],
  },
}
