import { CAST, ESCAPES, INSTEAD, SIGNS, type Lexicon } from '../lexicon.ts'

/** MySQL keeps the backslash of these two, for the patterns of LIKE. */
const escapes = { ...ESCAPES, '%': '\\%', _: '\\_' }

/**
 * MySQL's and MariaDB's SQL with their default sql_mode (https://dev.mysql.com/doc/refman/8.4/en/language-structure.html,
 * https://mariadb.com/kb/en/sql-language-structure): double quotes hold texts and a backslash begins an escape. What is
 * sent is written so that it means the same under the sessions' own sql_mode.
 */
export const mysqlLexicon: Lexicon = {
  label: 'MySQL',
  texts: [
    { open: "'", close: "'", doubled: true, escapes },
    { open: "n'", close: "'", doubled: true, escapes },
    { open: '"', close: '"', doubled: true, escapes },
  ],
  names: [{ open: '`', close: '`', doubled: true }],
  lineComments: ['--', '#'],
  dashesNeedBlank: true,
  runs: /^\/\*M?!/,
  signs: ['::', '<=>', '->>', '->', '<<', '>>', '&&', '||', ':=', ...SIGNS, '&', '|', '^', '~', '!'],
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
  instead: {
    ...INSTEAD,
    ...CAST,
    '||': 'or between conditions, and concat(a, b) for texts; sql_mode decides which of them it is',
    '/*!': 'what it holds, without the comment',
    procedure: 'a SELECT without PROCEDURE',
    binary: "cast(a as binary) or a = 'x' collate utf8mb4_bin",
  },
}
