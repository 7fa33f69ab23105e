import { CAST_REPLACEMENT, BACKSLASH_ESCAPES, REPLACEMENTS, SYMBOLS, type Lexicon } from '../lexicon.ts'

/** MySQL keeps the backslash of these two, for the patterns of LIKE. */
const escapes = { ...BACKSLASH_ESCAPES, '%': '\\%', _: '\\_' }

/**
 * MySQL's and MariaDB's SQL with their default sql_mode (https://dev.mysql.com/doc/refman/8.4/en/language-structure.html,
 * https://mariadb.com/kb/en/sql-language-structure): double quotes hold texts and a backslash begins an escape. What is
 * sent is written so that it means the same under the sessions' own sql_mode.
 */
export const mysqlLexicon: Lexicon = {
  label: 'MySQL',
  texts: [
    { open: "'", close: "'", allowsDoubledClose: true, escapes },
    { open: "n'", close: "'", allowsDoubledClose: true, escapes },
    { open: '"', close: '"', allowsDoubledClose: true, escapes },
  ],
  names: [{ open: '`', close: '`', allowsDoubledClose: true }],
  lineComments: ['--', '#'],
  dashesNeedSpace: true,
  executableComment: /^\/\*M?!/,
  symbols: ['::', '<=>', '->>', '->', '<<', '>>', '&&', '||', ':=', ...SYMBOLS, '&', '|', '^', '~', '!'],
  operators: {
    regexp: '~',
    rlike: '~',
    'sounds like': '~~',
    'member of': '=',
    div: '/',
    mod: '%',
    xor: 'or',
    '&&': 'and',
  },
  modifiers: [
    ...['straight_join', 'high_priority', 'sql_no_cache'],
    ...['sql_small_result', 'sql_big_result', 'sql_buffer_result'],
  ],
  clauses: ['interval', 'limit', 'separator', 'match', 'casts', 'rollup', 'indexes'],
  replacements: {
    ...REPLACEMENTS,
    ...CAST_REPLACEMENT,
    '||': 'or between conditions, and concat(a, b) for texts; sql_mode decides which of them it is',
    '/*!': 'what it holds, without the comment',
    procedure: 'a SELECT without PROCEDURE',
    binary: "cast(a as binary) or a = 'x' collate utf8mb4_bin",
  },
}
