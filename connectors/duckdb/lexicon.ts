import { BACKSLASH_ESCAPES, REPLACEMENTS, SYMBOLS, type Lexicon } from '../lexicon.ts'

/** DuckDB's SQL (https://duckdb.org/docs/stable/sql/dialect/overview), whose grammar is that of PostgreSQL with more. */
export const duckdbLexicon: Lexicon = {
  label: 'DuckDB',
  texts: [
    { open: "'", close: "'", allowsDoubledClose: true },
    { open: "e'", close: "'", allowsDoubledClose: true, escapes: BACKSLASH_ESCAPES },
  ],
  names: [{ open: '"', close: '"', allowsDoubledClose: true }],
  lineComments: ['--'],
  nestsComments: true,
  symbols: ['::', '->>', '->', '||', '==', '//', '**', '<<', '>>', ...SYMBOLS, '&', '|', '^', '~', '[', ']'],
  operators: { '==': '=', '//': '/', '**': '^', glob: '~~' },
  clauses: ['interval', 'limit'],
  replacements: REPLACEMENTS,
}
