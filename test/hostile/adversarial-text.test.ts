/** Texts from outside are read in time that grows with their length, whatever they hold. */
import { loadModule } from 'libpg-query'
import t from 'tap'
import { readDateFormat } from '../../checks/date-format.ts'
import { shiftDecimal } from '../../checks/decimals.ts'
import { toNumber } from '../../checks/measures.ts'
import { tokenize } from '../../checks/sql/lexer.ts'
import { bigqueryLexicon } from '../../connectors/bigquery/lexicon.ts'
import { findSelectViolation } from '../../connectors/bigquery/select-violation.ts'
import { databricksLexicon } from '../../connectors/databricks/lexicon.ts'
import { canonicalType as databricksType } from '../../connectors/databricks/types.ts'
import { redactMessage } from '../../connectors/errors.ts'
import { mysqlLexicon } from '../../connectors/mysql/lexicon.ts'
import { canonicalType as mysqlType } from '../../connectors/mysql/types.ts'
import { canonicalType as postgresqlType } from '../../connectors/postgresql/types.ts'
import { columnKind as redshiftKind } from '../../connectors/redshift/types.ts'
import { snowflakeLexicon } from '../../connectors/snowflake/lexicon.ts'
import { extractFastKey } from '../../connectors/snowflake/key-extraction.ts'
import { describePayload } from '../../plugins/alerts/destinations/describe.ts'
import { samplePayloads } from '../../plugins/alerts/destinations/conformance.ts'
import { tagsByName } from '../../plugins/catalog/tags/classify.ts'
import { physicalTypeMismatch } from '../../plugins/contracts/enforcement/column-types.ts'
import { readMoment } from '../../plugins/freshness/run/moments.ts'
import { readOwners } from '../../plugins/lineage/dbt/owners.ts'
import { readEvent } from '../../plugins/lineage/openlineage/event.ts'
import { wordRulesOf } from '../../plugins/lineage/views/sql-words.ts'
import { findTableNames } from '../../plugins/lineage/views/table-names.ts'
import { readView, type ViewContext } from '../../plugins/lineage/views/read-view.ts'
import { makeTableIndex } from '../../plugins/lineage/views/table-index.ts'
import { wordsOf } from '../../plugins/recommendations/rules/names.ts'
import { effectOf } from '../../plugins/impact/changes.ts'

await loadModule()

const CHARACTERS = 1_000_000
/** Two lengths that are compared first: 1 MB in quadratic time would take minutes. */
const LONG = CHARACTERS / 4
const SHORT = LONG / 4
/** Four times the text takes four times the time; or sixteen times as much, in quadratic time. */
const MAX_RATIO = 9
/** Less than this is not worth a comparison. */
const NEGLIGIBLE_MS = 100

/** What a text is made of: each repeated to the length, alone or around another. */
const TEXTS: Readonly<Record<string, (length: number) => string>> = Object.fromEntries(
  [
    ...[
      ' ',
      '\n',
      '(',
      ')',
      '[',
      ']',
      '"',
      "'",
      '`',
      '.',
      ',',
      '-',
      '_',
      '0',
      '9',
      'a',
      'A',
      'as ',
      'as(',
      '<',
      '@',
    ],
    ...[
      '%',
      '/*',
      '--',
      '$$',
      '::',
      'a.',
      'Ab',
      '1e',
      '\\',
      '[]',
      'with ',
      'with a as (',
      'a as (),',
      'from (',
      "r'",
      "'''",
      '-a',
      "''",
      '""',
      '"a',
      '{{',
      '=',
      'password=',
      '://',
    ],
  ].flatMap(part => [
    [part, (length: number) => part.repeat(length / part.length)],
    [`x${part}…x`, (length: number) => `x${part.repeat(length / part.length)}x`],
  ]),
)

const table = {
  catalog: 'shop',
  schema: 'public',
  name: 'v',
  kind: 'view',
  columns: [],
} as unknown as ViewContext['table']
const context = (isPostgresql: boolean): ViewContext => {
  const rules = wordRulesOf(isPostgresql ? 'postgresql' : undefined)
  return { index: makeTableIndex([]), isPostgresql, rules, table }
}
const view = (definition: string) => ({ catalog: 'shop', schema: 'public', name: 'v', definition })
const clock = { zone: 'UTC', now: new Date() }
const [payload] = samplePayloads()

/** Who reads texts from outside on the thread that serves people. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  'definitions of views in other grammars': text => readView(view(text), context(false)),
  'the query of a view that PostgreSQL cannot parse': text => readView(view(`as ${text} as`), context(true)),
  ...Object.fromEntries(
    [bigqueryLexicon, databricksLexicon, mysqlLexicon, snowflakeLexicon].map(lexicon => [
      `names of tables of ${lexicon.label}`,
      (text: string) => findTableNames(text, wordRulesOf(lexicon)),
    ]),
  ),
  'SQL of callers': text => tokenize(text, mysqlLexicon, new Set()),
  'statements of BigQuery': text => findSelectViolation(`select 1; ${text}`),
  'date formats': readDateFormat,
  decimals: text => shiftDecimal(`0.${'0'.repeat(text.length)}1`, 2),
  numerals: text => toNumber(`1${text}`),
  'private keys': text => extractFastKey(`-----BEGIN PRIVATE KEY-----${text}`),
  'types of Databricks': databricksType,
  'types of MySQL': mysqlType,
  'types of PostgreSQL': postgresqlType,
  'types of Redshift': redshiftKind,
  'types of contracts': text => physicalTypeMismatch(text, { type: text } as never),
  'types of planned changes': text => effectOf({ change: 'retype_column', new_type: text } as never, text),
  'messages of engines': redactMessage,
  'reasons of alerts': text =>
    describePayload({ ...payload!, alert: { ...payload!.alert, reason: text } } as never),
  'names of columns': text => tagsByName({ name: text, kind: 'text', type: 'text' }),
  'words of names': wordsOf,
  'times of rows': text => readMoment(`2026-01-01 ${text}`, clock),
  'owners of dbt': readOwners,
  'times of events': text =>
    readEvent({ eventTime: text, run: { runId: text }, job: { namespace: text, name: text } }, 'UTC'),
}

for (const [reader, read] of Object.entries(READERS))
  t.test(
    `${reader}: the time to read 1 MB of anything grows with its length`,
    { timeout: 300_000 },
    async t => {
      const slow: string[] = []
      for (const [name, make] of Object.entries(TEXTS)) {
        const long = cpuMs(read, make(LONG))
        if (long > NEGLIGIBLE_MS) {
          const short = Math.max(cpuMs(read, make(SHORT)), 1)
          // A second look: the first may have met the garbage collector.
          if (long / short > MAX_RATIO && cpuMs(read, make(LONG)) / short > MAX_RATIO) {
            slow.push(`${name}: ${short.toFixed(0)} ms, ${long.toFixed(0)} ms`)
            continue
          }
        }
        cpuMs(read, make(CHARACTERS))
      }
      t.strictSame(slow, [])
    },
  )

/** Milliseconds of CPU time that reading takes; a text may be refused. */
function cpuMs(read: (text: string) => unknown, text: string): number {
  const before = process.threadCpuUsage()
  try {
    read(text)
  } catch {
    // Refusing takes time, too.
  }
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
