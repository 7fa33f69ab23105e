import { BACKSLASH_ESCAPES, REPLACEMENTS, SYMBOLS, type Lexicon } from '../lexicon.ts'

/** Redshift's SQL (https://docs.aws.amazon.com/redshift/latest/dg/r_Character_types.html, …/r_names.html). */
export const redshiftLexicon: Lexicon = {
  label: 'Redshift',
  texts: [{ open: "'", close: "'", allowsDoubledClose: true, escapes: BACKSLASH_ESCAPES }],
  names: [{ open: '"', close: '"', allowsDoubledClose: true }],
  lineComments: ['--'],
  symbols: [...['!~*', '::', '||', '!~', '~*', '<<', '>>'], ...[...SYMBOLS, '&', '|', '^', '~', '[', ']']],
  operators: {},
  clauses: [],
  replacements: REPLACEMENTS,
}
