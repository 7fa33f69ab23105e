import { ESCAPES, INSTEAD, SIGNS, type Lexicon } from '../lexicon.ts'

/** Snowflake's SQL (https://docs.snowflake.com/en/sql-reference/data-types-text, …/operators). */
export const snowflakeLexicon: Lexicon = {
  label: 'Snowflake',
  texts: [
    { open: "'", close: "'", doubled: true, escapes: ESCAPES },
    { open: '$$', close: '$$' },
  ],
  names: [{ open: '"', close: '"', doubled: true }],
  lineComments: ['--', '//'],
  signs: ['::', '||', '=>', ...SIGNS, '[', ']'],
  operators: { regexp: '~', rlike: '~' },
  clauses: [],
  instead: { ...INSTEAD, ':': "get_path(a, 'b') for a:b" },
}
