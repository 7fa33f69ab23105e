/**
 * A regular expression over text from outside takes linear time: one that backtracks holds the thread that serves all
 * companies. Every literal of the source is judged by recheck, which knows polynomial time too.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { check } from 'recheck'
import t from 'tap'
import ts from 'typescript'

const root = join(import.meta.dirname, '..')

/** Literals that take more than linear time, and why none of them meets a long text from outside. */
const EXCEPTIONS: Record<string, readonly string[]> = {
  'the message of an engine is cut at 2,000 characters before it is classified': [
    'connectors/bigquery/errors.ts /region-[\\w-]+(`?[.:])INFORMATION_SCHEMA/i',
    'connectors/bigquery/errors.ts /Not found: Project|project .* (not found|does not exist)/i',
    'connectors/databricks/errors.ts /(not have|no|lacks?) (the )?\\S* ?(permissions?|access|authoriz\\w+).{0,60}(warehouse|endpoint)/i',
    'connectors/databricks/errors.ts /(warehouse|endpoint).*(not found|not exist|not a valid|deleted|invalid)|No API found/is',
    'connectors/databricks/errors.ts /(warehouse|endpoint).*(stopp|not running|failed to start|cannot be started|is starting)/i',
    'connectors/databricks/errors.ts /inline.*(limit|exceed)|exceed.*inline|result.*(larger|size).*limit/is',
    'connectors/databricks/errors.ts /statement.*(timed out|timeout)|STATEMENT_TIMEOUT/i',
    'connectors/duckdb/errors.ts /schema mismatch|columns? .* (was|were) read from the original file/i',
    'connectors/duckdb/errors.ts /column .* not found|does not have a column/i',
    'connectors/postgresql/errors.ts /nondeterministic collation.*regular expression/',
    'connectors/redshift/errors.ts /cluster is (being )?(resiz|paus|restart|rebooting)|workgroup .* (not available|unavailable)/i',
    'connectors/redshift/errors.ts /spectrum.*(403|forbidden)|S3.*(403|forbidden)/i',
    'connectors/redshift/errors.ts /EntityNotFoundException|external (table|schema|database) .*not found/i',
  ],
  'the text is of this program, of Node or of the operator': [
    'connectors/conformance/config.ts /\\\\n|\\s*\\n\\s*/',
    'plugins/auth/oauth/providers.ts /\\/+$/',
    'plugins/console/modules.ts /^(?:import|export)\\s(?!type\\b)[^\'"]*?from\\s+[\'"]([^\'"]+)[\'"]|^import\\s+[\'"]([^\'"]+)[\'"]/gm',
    'plugins/public/doc-pages.ts /^- \\[(.+?)\\]\\((.+?)\\.md\\): (.)(.*)$/gm',
    'plugins/public/docs-site.ts /[_./]+(?=\\w)/g',
    'plugins/public/docs-site.ts /\\]\\([^)]*\\)/g',
    'plugins/public/docs-site.ts /^```[\\s\\S]*?^```$|^\\|.*$/gm',
    'server/database/months.ts /FROM \\((.+)\\) TO \\((.+)\\)$/',
    'server/extensions/advice.ts /Package subpath .* is not defined by "exports" in .*package\\.json/',
    'server/extensions/advice.ts /([\\w$]+)\\.add\\b/',
    'server/openapi/openapi.ts /\\{(\\w+)[^}]*\\}/g',
    'server/settings/config.ts /\\/+$/',
    'server/settings/smtp-settings.ts /^"?([^"<>\\p{Cc}]*?)"?\\s*<([^<>\\s]+)>$/u',
  ],
  'the text is a plan, or a statement that this program wrote, in which no SQL of users is left': [
    'connectors/mysql/cost.ts /`((?:[^`]|``)+)`\\.`((?:[^`]|``)+)`(?:\\s+(?:as\\s+)?`?(\\w+)`?)?/g',
    'connectors/redshift/cost.ts /\\b(?:Seq|Index|Index Only|Bitmap Heap) Scan\\b.* on .*\\(cost=\\S+ rows=(\\d+) width=(\\d+)\\)/',
    'connectors/redshift/cost.ts /\\bScan\\b.*\\(cost=/',
  ],
  'it runs in the process of the caller, over the text of the caller': [
    'plugins/console/client/forms/schema.ts /^([^:]*[^:\\s])\\s*:\\s*(.+)$/',
    'plugins/monitors/command/monitors-commands.ts /\\/+$/',
    'plugins/monitors/import/dbt-project.ts /^\\s*(?:\\{\\{-?)?\\s*(ref|source)\\(\\s*[\'"]([^\'"]+)[\'"]\\s*(?:,\\s*[\'"]([^\'"]+)[\'"]\\s*)?(?:,\\s*(?:v|version)\\s*=\\s*[\'"]?([\\w.-]+)[\'"]?\\s*)?\\)\\s*(?:-?\\}\\})?\\s*$/',
    'plugins/monitors/import/soda-checks.ts /^freshness ?\\(((?:"[^"]+"|`[^`]+`|[^)"`])+)\\)\\s*(.*)$/',
    'plugins/monitors/import/soda-checks.ts /(\\d+)([dhm])/g',
    'plugins/monitors/import/soda-metrics.ts /^([A-Za-z_][\\w ]*?)\\s*(?:\\(((?:"[^"]*"|`[^`]*`|[^)"`])*)\\))?\\s*((?:not\\s+)?between\\b.*|[<>=!].*)?$/',
    'plugins/public/client/client.ts /\\/+$/',
    'server/cli/client.ts /\\/+$/',
  ],
}

/** Expressions that are put together at run time, and of what. */
const COMPOSED: Record<string, string> = {
  'connectors/conformance/dialect.ts': 'the kit in the process of its author',
  'plugin-template/reader/functions.ts':
    'REGEXP of SQLite, in a thread that ends with the timeout of the statement',
  'plugin-template/reader/strptime.ts': 'a date format, in the same thread',
  'plugins/console/modules.ts': 'names of packages of this program',
  'plugins/contracts/contradictions.ts': 'compiled in a thread and never run',
  'plugins/monitors/file/monitors-file.ts': 'the pattern of keys, of bounded length',
  'plugins/monitors/import/soda-metrics.ts': 'a constant, in the process of the caller',
  'plugins/monitors/import/soda.ts': 'patterns of a local file, in the process of the caller',
  'server/database/asset-rows.ts': 'a constant and a prefix of this program',
}

interface Literal {
  file: string
  text: string
}

const literals: Literal[] = []
const composed = new Set<string>()
for (const file of listSources()) {
  const source = ts.createSourceFile(
    file,
    readFileSync(join(root, file), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  )
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) literals.push({ file, text: node.text })
    if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp')
      composed.add(file)
    ts.forEachChild(node, visit)
  }
  visit(source)
}

function listSources(): string[] {
  return globSync('{server,plugins,connectors,checks,plugin-template}/**/*.{ts,tsx}', { cwd: root })
    .filter(file => !/node_modules|\.d\.ts$|(^|\/)(dist|test)\//.test(file))
    .sort()
}

t.test(
  'every regular expression takes linear time, or stands here with its reason',
  { timeout: 600_000 },
  async t => {
    t.ok(literals.length > 500, `${literals.length} literals`)
    const expected = new Set(Object.values(EXCEPTIONS).flat())
    const slow = new Set<string>()
    const verdicts = new Map<string, boolean>()
    for (const { file, text } of literals) {
      const isLinear = verdicts.get(text) ?? (await takesLinearTime(text))
      verdicts.set(text, isLinear)
      if (!isLinear) slow.add(`${file} ${text}`)
    }
    t.strictSame(
      [...slow].filter(literal => !expected.has(literal)),
      [],
      'none is new',
    )
    t.strictSame(
      [...expected].filter(literal => !slow.has(literal)),
      [],
      'none stands here that is gone or mended',
    )
  },
)

t.test('every expression that is put together stands here with what it is made of', async t => {
  t.strictSame([...composed].sort(), Object.keys(COMPOSED).sort())
})

t.test('what takes quadratic and exponential time is found', async t => {
  for (const text of ['/\\s+$/', '/^(a+)+$/', '/\\bas\\s+(\\(*\\s*(?:select|with)\\b[\\s\\S]*)$/i'])
    t.notOk(await takesLinearTime(text), text)
  t.ok(await takesLinearTime('/^[a-z]+$/'))
})

/**
 * Automata know the worst text of an expression; its fuzzer, which may miss one, judges those with assertions and references
 * back, which automata do not know.
 */
async function takesLinearTime(text: string): Promise<boolean> {
  const end = text.lastIndexOf('/')
  const judge = (checker: 'automaton' | 'fuzz') =>
    check(text.slice(1, end), text.slice(end + 1), { checker, timeout: 5_000 })
  const { status } = await judge('automaton')
  return (status === 'unknown' ? (await judge('fuzz')).status : status) === 'safe'
}
