/** The command `impact`, a gate for migrations: what their statements would break. */
import { Option } from 'commander'
import {
  withClient,
  withRemoteOptions,
  type ClientOptions,
  type ServiceClient,
} from '../../server/cli/client.ts'
import {
  CommandError,
  EXIT,
  printResult,
  withCompanyOption,
  type CommandContribution,
} from '../../server/cli/command.ts'
import { oneLine } from '../../server/cli/terminal-text.ts'
import { readTextFile } from '../../server/cli/text-file.ts'
import { LEVELS, type Level } from './changes.ts'
import type { MigrationReading } from './ddl.ts'

interface ImpactOptions extends ClientOptions {
  file: string[]
  source: string
  failOn: Level
  strict?: true
}

const HELP = `
Reads the statements of the files in PostgreSQL's grammar: DROP TABLE, VIEW and SCHEMA, TRUNCATE, RENAME, SET SCHEMA, DROP
COLUMN, ALTER TYPE, SET and DROP NOT NULL. Statements that take nothing from readers, such as CREATE TABLE and ADD COLUMN,
are passed over; all others are listed as not understood. The files are not executed.

Ends with
  0  no change has an impact of the level of --fail-on or above
  1  a change has; with --strict also if a statement is not understood, or a table or column is not in the catalog
  2  wrong usage, credentials or settings; also if a file cannot be parsed, after the others were judged
  3  no such source
  5  unknown: the service cannot be reached

In the pipeline of a pull request:
  tidemark impact -f migrations/0042.sql --source shop --fail-on high`

export const impactCommand: CommandContribution = {
  name: 'impact',
  define(command, terminal, outcome) {
    withRemoteOptions(withCompanyOption(command))
      .description('what a migration would break downstream; the exit code is the answer')
      .requiredOption('-f, --file <file...>', 'the migration, SQL in the grammar of PostgreSQL')
      .requiredOption('--source <source>', 'the source that it changes, by id or name')
      .addOption(
        new Option('--fail-on <level>', 'the level of impact from which on it fails')
          .choices(LEVELS.slice(1))
          .default('medium'),
      )
      .option('--strict', 'fail also on what is not understood or not in the catalog')
      .addHelpText('after', HELP)
      .action(async (options: ImpactOptions) => {
        outcome.unexpectedExitCode = EXIT.error
        const files = await Promise.all(options.file.map(readFile))
        const readings = files.filter(file => 'changes' in file)
        const unreadable = files.filter(file => 'reason' in file)
        const [first] = unreadable
        if (first && readings.length === 0) throw new CommandError(first.reason, EXIT.usage)
        const judged = await withClient(options, terminal.signal, client =>
          checkMigrations(client, readings, options.source, terminal.signal),
        )
        const result = { ...judged, unreadable }
        const isHit = LEVELS.indexOf(result.level) >= LEVELS.indexOf(options.failOn)
        const isUnclear = result.not_understood.length + result.unknown.length > 0
        printResult(terminal, options, result, ...formatResult(result))
        if (first) outcome.exitCode = EXIT.usage
        else outcome.exitCode = isHit || (options.strict && isUnclear) ? EXIT.failed : EXIT.success
      })
  },
}

interface FileReading extends MigrationReading {
  file: string
}

/** A file that is not there, or not in the grammar: it stops none of the others. */
interface UnreadableFile {
  file: string
  /** Names the file. */
  reason: string
}

async function readFile(file: string): Promise<FileReading | UnreadableFile> {
  // Imported here: other commands start without the parser.
  const [{ loadModule, SqlError }, { readMigration }] = await Promise.all([
    import('libpg-query'),
    import('./ddl.ts'),
  ])
  try {
    const text = await readTextFile(file)
    await loadModule()
    return { file, ...readMigration(text) }
  } catch (error) {
    if (error instanceof CommandError) return { file, reason: error.message }
    if (!(error instanceof SqlError || error instanceof RangeError)) throw error
    const why = error instanceof SqlError ? error.message : 'it is nested too deeply'
    const reason = `${file} cannot be read in PostgreSQL's grammar, the only one that this command knows: ${why}`
    return { file, reason: oneLine(reason) }
  }
}

/** What is printed of the reply of the API; unknown fields pass through. */
interface PrintedChange {
  level: Level
  sentence: string
  tables: PrintedDependent[]
  dashboards: PrintedDependent[]
  checks: { kind: string; name: string; certainty: string }[]
  contracts: { contract: string; title: string }[]
  owners: { name: string; email: string | null; assets: number }[]
}

interface PrintedDependent {
  qualified_name: string
  asset_type: string
  certainty: string
  sentence: string
}

interface UnknownPart {
  file: string
  line: number
  problem: string
}

interface ImpactResult {
  source: string
  level: Level
  changes: (PrintedChange & { file: string; line: number })[]
  /** What the catalog does not have. */
  unknown: UnknownPart[]
  not_understood: { file: string; line: number; statement: string; reason: string }[]
}

/** Changes in one request; the API takes no more. */
const MAX_CHANGES = 100

async function checkMigrations(
  client: ServiceClient,
  readings: readonly FileReading[],
  source: string,
  signal: AbortSignal,
): Promise<ImpactResult> {
  const all = readings.flatMap(({ file, changes }) => changes.map(change => ({ file, change })))
  const result: ImpactResult = {
    source,
    level: 'none',
    changes: [],
    unknown: [],
    not_understood: readings.flatMap(({ file, notUnderstood }) =>
      notUnderstood.map(each => ({ file, ...each })),
    ),
  }
  for (let from = 0; from < all.length; from += MAX_CHANGES) {
    const part = all.slice(from, from + MAX_CHANGES)
    const { body } = await client.request<{
      data: { level: Level; changes: PrintedChange[]; unknown: { index: number; problem: string }[] }
    }>('POST', '/sdk/lineage/impact', signal, {
      source,
      changes: part.map(({ change: { line: _line, ...change } }) => change),
    })
    const { level, changes, unknown } = body.data
    if (LEVELS.indexOf(level) > LEVELS.indexOf(result.level)) result.level = level
    const missing = new Map(unknown.map(({ index, problem }) => [index, problem]))
    const assessed = changes.values()
    for (const [index, { file, change }] of part.entries()) {
      const place = { file, line: change.line }
      const problem = missing.get(index)
      if (problem === undefined) result.changes.push({ ...assessed.next().value!, ...place })
      else result.unknown.push({ ...place, problem })
    }
  }
  return result
}

/** Lines that are printed for one change. */
const MAX_DEPENDENTS = 20

function formatResult({
  source,
  level,
  changes,
  unknown,
  not_understood: unread,
  unreadable,
}: ImpactResult & { unreadable: readonly UnreadableFile[] }): string[] {
  return [
    ...unreadable.map(({ reason }) => oneLine(`unread    ${reason}`)),
    ...changes.flatMap(change => [
      oneLine(`${change.level.padEnd(8)}  ${change.file}:${change.line}  ${change.sentence}`),
      ...formatDetails(change),
    ]),
    ...unknown.map(({ file, line, problem }) => oneLine(`unknown   ${file}:${line}  ${problem}`)),
    ...unread.map(({ file, line, statement, reason }) =>
      oneLine(`skipped   ${file}:${line}  ${reason}: ${statement}`),
    ),
    oneLine(
      `impact ${level}: ${countOf(changes.length, 'change')} of ${source}` +
        `${unknown.length > 0 ? `, ${unknown.length} of what is not in the catalog` : ''}` +
        `${unread.length > 0 ? `, ${countOf(unread.length, 'statement')} not understood` : ''}` +
        `${unreadable.length > 0 ? `, ${countOf(unreadable.length, 'file')} not read` : ''}`,
    ),
  ]
}

function formatDetails({ tables, dashboards, checks, contracts, owners }: PrintedChange): string[] {
  const lines = [
    ...[...dashboards, ...tables].map(
      ({ asset_type: type, qualified_name: name, certainty, sentence }) =>
        `${certainty.padEnd(8)}  ${type} ${name}: ${sentence}`,
    ),
    ...checks.map(({ certainty, kind, name }) => `${certainty.padEnd(8)}  ${kind} check: ${name}`),
    ...contracts.map(({ contract, title }) => `certain   contract ${contract}: ${title}`),
  ]
  const left = lines.length - MAX_DEPENDENTS
  return [
    ...lines.slice(0, MAX_DEPENDENTS),
    ...(left > 0 ? [`and ${left} more: --json prints all`] : []),
    ...(owners.length > 0 ? [`owners: ${owners.map(({ name }) => name).join(', ')}`] : []),
  ].map(line => `          ${oneLine(line)}`)
}

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
