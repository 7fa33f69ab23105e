import { CAST_REPLACEMENT, REPLACEMENTS, SYMBOLS, type Lexicon } from 'tidemark/connector'

/** SQLite's SQL (https://www.sqlite.org/lang_expr.html, https://www.sqlite.org/lang_keywords.html). */
export const lexicon: Lexicon = {
  label: 'SQLite',
  texts: [{ open: "'", close: "'", allowsDoubledClose: true }],
  names: [
    { open: '"', close: '"', allowsDoubledClose: true },
    { open: '`', close: '`', allowsDoubledClose: true },
    { open: '[', close: ']' },
  ],
  lineComments: ['--'],
  // https://www.sqlite.org/lang_with.html: the word RECURSIVE changes nothing.
  recursesWithoutKeyword: 'anywhere',
  symbols: ['::', '->>', '->', '||', '==', '<<', '>>', ...SYMBOLS, '&', '|', '~'],
  operators: { glob: '~~', regexp: '~', match: '~', '==': '=' },
  clauses: ['limit', 'is', 'indexes'],
  replacements: { ...REPLACEMENTS, ...CAST_REPLACEMENT },
}
