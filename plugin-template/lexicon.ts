import { CAST, INSTEAD, SIGNS, type Lexicon } from 'tidemark/connector'

/** SQLite's SQL (https://www.sqlite.org/lang_expr.html, https://www.sqlite.org/lang_keywords.html). */
export const lexicon: Lexicon = {
  label: 'SQLite',
  texts: [{ open: "'", close: "'", doubled: true }],
  names: [
    { open: '"', close: '"', doubled: true },
    { open: '`', close: '`', doubled: true },
    { open: '[', close: ']' },
  ],
  lineComments: ['--'],
  signs: ['::', '->>', '->', '||', '==', '<<', '>>', ...SIGNS, '&', '|', '~'],
  operators: { glob: '~~', regexp: '~', match: '~', '==': '=' },
  clauses: ['limit', 'is', 'indexes'],
  instead: { ...INSTEAD, ...CAST },
}
