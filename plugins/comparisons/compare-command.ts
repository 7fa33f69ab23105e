/** The command `compare LEFT RIGHT`: whether two tables are equal, on one source or on two; the exit code is the answer. */
import { InvalidArgumentError, Option, type Command } from 'commander'
import { formatName, parseName } from '../../connectors/catalog.ts'
import { withServiceOptions, withTimedClient, type ClientOptions } from '../../server/cli/client.ts'
import {
  CommandError,
  EXIT,
  printResult,
  withCompanyOption,
  type CommandContribution,
} from '../../server/cli/command.ts'
import { timeoutOption } from '../../server/cli/timeouts.ts'
import { formatComparison, formatJunit, type PrintedComparison } from './format-comparison.ts'

const FORMATS = ['text', 'json', 'junit'] as const
/** As the API has them; its models are not loaded for a command. */
const LEVELS = ['rows', 'aggregates', 'counts'] as const

/** A column by its name, or a pair of columns whose names differ. */
type ColumnChoice = string | { left: string; right: string }

interface CompareOptions extends Omit<ClientOptions, 'key'> {
  apiKey?: string
  key: ColumnChoice[]
  columns?: ColumnChoice[]
  groupBy: ColumnChoice[]
  where?: string
  rightWhere?: string
  level: (typeof LEVELS)[number]
  format: (typeof FORMATS)[number]
  timeout: number
}

/** Statements of each side run one after another, each for up to a minute. */
const DEFAULT_TIMEOUT_SECONDS = 3_600

const EXIT_CODE_BY_STATUS = { pass: EXIT.success, fail: EXIT.failed, error: EXIT.error } as const

export const compareCommand: CommandContribution = {
  name: 'compare',
  define(command, terminal, outcome) {
    withOwnOptions(
      withServiceOptions(withCompanyOption(command.argument('<left>').argument('<right>')), '--api-key'),
    )
      .description('compare two tables of one source or of two, now; the exit code is the answer')
      .addOption(timeoutOption('how long it may take', DEFAULT_TIMEOUT_SECONDS))
      .addHelpText('after', HELP)
      .action(async (left: string, right: string, options: CompareOptions) => {
        outcome.unexpectedExitCode = EXIT.error
        const body = bodyOf(left, right, options)
        const { apiKey, json, company, url, timeout } = options
        const chosen = {
          timeout,
          ...(json && { json }),
          ...(company !== undefined && { company }),
          ...(url !== undefined && { url }),
          ...(apiKey !== undefined && { key: apiKey }),
        }
        const found = await withTimedClient(chosen, terminal.signal, async (client, signal) => {
          const path = '/sdk/comparisons/dry-run'
          const limit = { timeoutMs: timeout * 1_000 }
          const { body: reply } = await client.request<{ data: PrintedComparison }>(
            ...(['POST', path, signal, body, limit] as const),
          )
          return reply.data
        })
        const format = json ? 'json' : options.format
        const lines =
          format === 'junit' ? formatJunit(left, right, found) : formatComparison(left, right, found)
        if (format === 'text') for (const warning of found.warnings) terminal.err(warning)
        printResult(terminal, format === 'json' ? { json: true } : {}, { left, right, ...found }, ...lines)
        outcome.exitCode = EXIT_CODE_BY_STATUS[found.status]
      })
  },
}

function withOwnOptions(command: Command): Command {
  return command
    .addOption(
      columnsOption('--key <columns>', 'the columns that say which rows belong together, such as id').default(
        [],
        'none',
      ),
    )
    .addOption(
      columnsOption('--columns <columns>', 'the columns to compare; all that have the same name by default'),
    )
    .addOption(
      columnsOption('--group-by <columns>', 'compare aggregates or counts in each group of them').default(
        [],
        'none',
      ),
    )
    .option('--where <condition>', 'only rows for which this SQL is true, of both tables')
    .option('--right-where <condition>', 'another condition for the right table')
    .addOption(new Option('--level <level>', 'what is compared').choices(LEVELS).default('rows'))
    .addOption(new Option('--format <format>', 'how the result is printed').choices(FORMATS).default('text'))
}

function columnsOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text: string, before?: ColumnChoice[]) => [
    ...(before ?? []),
    ...readColumns(text),
  ])
}

/** Reads `id,line=line_no`. @throws InvalidArgumentError */
function readColumns(text: string): ColumnChoice[] {
  return text.split(',').map(part => {
    const names = part.split('=').map(name => name.trim())
    const [left = '', right = left] = names
    if (names.length > 2 || left === '' || right === '')
      throw new InvalidArgumentError('Give names of columns, such as id,line=line_no.')
    return left === right ? left : { left, right }
  })
}

/** The body of the dry run. @throws CommandError for names that are no tables */
function bodyOf(left: string, right: string, options: CompareOptions) {
  const { level, key, columns, groupBy, where, rightWhere = where } = options
  if (level === 'rows' && key.length === 0)
    throw new CommandError(
      'Comparing rows needs --key, the columns of which each row has its own values; --level aggregates and --level counts need none',
      EXIT.usage,
    )
  const [ofLeft, ofRight] = [readTable(left), readTable(right)]
  return {
    ...{ asset_id: ofLeft.source, table_path: ofLeft.path },
    ...{ right_source: ofRight.source, right_table_path: ofRight.path },
    level,
    ...(key.length > 0 && { key_columns: key }),
    ...(columns && { columns }),
    ...(groupBy.length > 0 && { group_by_columns: groupBy }),
    ...(where !== undefined && { filter: where }),
    ...(rightWhere !== undefined && { right_filter: rightWhere }),
  }
}

/** A source, and the path of a table in it. */
function readTable(name: string): { source: string; path: string } {
  const [source, ...path] = parseName(name) ?? []
  if (source === undefined || path.length === 0)
    throw new CommandError(
      `${name} names no table: give <source>.<schema>.<table>, such as shop.public.orders`,
      EXIT.usage,
    )
  return { source, path: formatName(path) }
}

const HELP = `
<left> and <right> are tables, by <source>.<database>.<schema>.<table>, or less where that is unambiguous, such as
shop.public.orders. Columns are separated by commas; left=right where their names differ.

Ends with
  0  equal
  1  different
  2  wrong usage, credentials or settings; also columns that cannot be compared
  3  no such source
  5  unknown: it could not run, or the service cannot be reached

Whether the copy of a migration is whole:
  tidemark compare old.public.orders new.sales.orders --key id --columns status,total=amount`
