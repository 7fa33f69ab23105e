import { BACKSLASH_ESCAPES, REPLACEMENTS, SYMBOLS, type Lexicon } from '../lexicon.ts'

/** Snowflake's SQL (https://docs.snowflake.com/en/sql-reference/data-types-text, …/operators). */
export const snowflakeLexicon: Lexicon = {
  label: 'Snowflake',
  texts: [
    { open: "'", close: "'", allowsDoubledClose: true, escapes: BACKSLASH_ESCAPES },
    { open: '$$', close: '$$' },
  ],
  names: [{ open: '"', close: '"', allowsDoubledClose: true }],
  lineComments: ['--', '//'],
  // https://docs.snowflake.com/en/sql-reference/constructs/with: RECURSIVE may be left out.
  recursesWithoutKeyword: 'behind_union',
  symbols: ['::', '||', '=>', ...SYMBOLS, '[', ']'],
  operators: { regexp: '~', rlike: '~' },
  clauses: [],
  replacements: { ...REPLACEMENTS, ':': "get_path(a, 'b') for a:b" },
}
