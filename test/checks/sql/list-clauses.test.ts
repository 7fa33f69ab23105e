import t from 'tap'
import { toPostgresql } from '../../../checks/sql/to-postgresql.ts'
import { tokenize } from '../../../checks/sql/lexer.ts'
import { scanEngineSql } from '../../../checks/sql/engine-sql.ts'
import { REPLACEMENTS, SYMBOLS, type Lexicon, type SqlToken } from '../../../connectors/lexicon.ts'

const { qualify: _allowed, ...replacements } = REPLACEMENTS

/** As an extension of an engine such as DuckDB states it. */
const lexicon: Lexicon = {
  label: 'Acme',
  texts: [{ open: "'", close: "'", allowsDoubledClose: true }],
  names: [{ open: '"', close: '"', allowsDoubledClose: true }],
  lineComments: ['--'],
  symbols: ['->', '[', ']', ...SYMBOLS],
  operators: {},
  clauses: ['lists', 'exclude', 'qualify', withoutFinal],
  replacements,
}

/** `from t final`, a clause that is not listed. */
function withoutFinal(tokens: readonly SqlToken[]): SqlToken[] {
  return tokens.filter(({ kind, text }) => !(kind === 'word' && text.toLowerCase() === 'final'))
}

function rewrite(text: string): string {
  const tokens = tokenize(text, lexicon, new Set())
  if ('error' in tokens) throw new Error(tokens.error)
  return toPostgresql(tokens, lexicon)
    .map(token => token.text)
    .join(' ')
}

t.test('lists, lambdas, EXCLUDE and QUALIFY are read in the grammar of PostgreSQL', async t => {
  for (const [text, standard] of [
    ['a in [1, [2]]', 'a in array [ 1 , array [ 2 ] ]'],
    ['a[1] = 2', 'a [ 1 ] = 2'],
    ['list_transform(a, x -> x + 1)', 'list_transform ( a , x -> x + 1 )'],
    ['select * exclude (a, "b") from t', 'select * from t'],
    ['select * exclude a from t', 'select * from t'],
    ['select * exclude (f(a)) from t', 'select * exclude ( f ( a ) ) from t'],
    ['select a from t qualify b = 1', 'select a from t having b = 1'],
    ['select a from t group by a having c qualify b', 'select a from t group by a having c and b'],
    [
      'select a from (select b from u having c) v qualify d',
      'select a from ( select b from u having c ) v having d',
    ],
    ['select a from t final', 'select a from t'],
  ] as const)
    t.equal(rewrite(text), standard)
})

t.test('what is sent keeps the clauses of the engine', async t => {
  const scanned = scanEngineSql('select * exclude (a) from t qualify [1] = b', lexicon, new Set())
  if ('error' in scanned) throw new Error(scanned.error)
  t.match(scanned.pieces.map(piece => ('text' in piece ? piece.text : '')).join(''), /exclude/)
})
