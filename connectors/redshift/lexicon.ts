import { ESCAPES, INSTEAD, SIGNS, type Lexicon } from '../lexicon.ts'

/** Redshift's SQL (https://docs.aws.amazon.com/redshift/latest/dg/r_Character_types.html, …/r_names.html). */
export const redshiftLexicon: Lexicon = {
  label: 'Redshift',
  texts: [{ open: "'", close: "'", doubled: true, escapes: ESCAPES }],
  names: [{ open: '"', close: '"', doubled: true }],
  lineComments: ['--'],
  signs: [...['!~*', '::', '||', '!~', '~*', '<<', '>>'], ...[...SIGNS, '&', '|', '^', '~', '[', ']']],
  operators: {},
  clauses: [],
  instead: INSTEAD,
}
