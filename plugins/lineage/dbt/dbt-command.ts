/** The command `lineage dbt`, which sends the artifacts of a dbt project. */
import { join } from 'node:path'
import { withRemoteOptions, withTimedClient, type ClientOptions } from '../../../server/cli/client.ts'
import {
  CommandError,
  EXIT,
  printResult,
  withCompanyOption,
  type CommandContribution,
} from '../../../server/cli/command.ts'
import { alignCells, oneLine } from '../../../server/cli/terminal-text.ts'
import { readTextFile } from '../../../server/cli/text-file.ts'
import { timeoutOption } from '../../../server/cli/timeouts.ts'
import { ArtifactError } from './artifact-error.ts'
import type { DbtArtifacts } from './artifacts.ts'

interface DbtCommandOptions extends ClientOptions {
  source: string
  timeout: number
}

/** What the service answers, as far as it is printed. */
interface PrintedImport {
  project: string
  tables: number
  unmatched_count: number
  unmatched: string[]
  exposures: number
  edges: number
  columns: number
  kept_columns: number
  removed_edges: number
  tests: number
  test_results: number
  failing_tests: number
  test_errors: number
}

const DEFAULT_TIMEOUT_SECONDS = 300

const HELP = `
TARGET_DIR is the folder that dbt writes to, mostly target. Its manifest.json is read, and where they are there
catalog.json (of dbt docs generate) and run_results.json (of dbt test or dbt build). Only the parts that are used are
sent; SQL and documentation stay here. With catalog.json, columns are found in the compiled SQL of PostgreSQL and
Redshift; without it, and of models that dbt did not compile, those that were known stay.

Ends with
  0  it is stored, whether tests fail or not
  2  wrong usage, credentials or settings; also artifacts that cannot be read
  3  no such source
  5  unknown: the service cannot be reached

After each run of dbt, also after one that fails:
  dbt docs generate; dbt build; tidemark lineage dbt target --source shop

The results are those of the last command of dbt. docs generate, compile, parse and list overwrite run_results.json and
run nothing: their results change no test and no run.`

export const lineageCommand: CommandContribution = {
  name: 'lineage',
  define(command, terminal, outcome) {
    command.description('what tables are made from')
    withRemoteOptions(withCompanyOption(command.command('dbt <target-dir>')))
      .description('send lineage, owners and test results of a dbt project')
      .requiredOption('--source <source>', 'the source that dbt builds in, by id or name')
      .addOption(timeoutOption('how long it may take', DEFAULT_TIMEOUT_SECONDS))
      .addHelpText('after', HELP)
      .action(async (folder: string, options: DbtCommandOptions) => {
        outcome.unexpectedExitCode = EXIT.error
        const artifacts = await readArtifacts(folder)
        const body = { source: options.source, ...artifacts }
        const result = await withTimedClient(options, terminal.signal, async (client, signal) => {
          const path = '/sdk/lineage/dbt'
          const sent = await client.request<{ data: PrintedImport }>('POST', path, signal, body)
          return sent.body.data
        })
        printResult(terminal, options, result, ...formatImport(result))
      })
  },
}

/** Reads the artifacts of a folder and reduces them to what is used. @throws CommandError with exit code 2 */
async function readArtifacts(folder: string): Promise<DbtArtifacts> {
  // Imported here: other commands start faster.
  const { reduceArtifacts } = await import('./artifacts.ts')
  const manifest = await readJson(join(folder, 'manifest.json'))
  const [catalog, results] = await Promise.all(
    ['catalog.json', 'run_results.json'].map(name =>
      readJson(join(folder, name)).catch((error: unknown) => {
        if (error instanceof CommandError && error.message.endsWith(' is not there')) return undefined
        throw error
      }),
    ),
  )
  try {
    return await reduceArtifacts({ manifest, catalog, run_results: results })
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error
    const [name = ''] = error.field.split('.')
    throw new CommandError(oneLine(`${join(folder, name)}.json: ${error.field} ${error.message}`), EXIT.usage)
  }
}

async function readJson(file: string): Promise<unknown> {
  const text = await readTextFile(file)
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new CommandError(`${file} is not valid JSON: let dbt write it again`, EXIT.usage)
  }
}

function describeColumns({ columns, kept_columns: kept }: PrintedImport): string {
  if (!kept) return `${columns} pairs of columns`
  return `${columns} pairs of columns, of which ${kept} are those of an earlier import: these artifacts have no SQL or no catalog.json for them`
}

function formatImport(result: PrintedImport): string[] {
  const counts = alignCells([
    ['tables', `${result.tables}`],
    ['edges', `${result.edges}, with ${describeColumns(result)}`],
    ['exposures', `${result.exposures}`],
    ['tests', `${result.tests}`],
    [
      'new results',
      `${result.test_results}, of which ${result.failing_tests} fail or warn and ${result.test_errors} could not run`,
    ],
  ])
  const { unmatched, unmatched_count: count } = result
  return [
    oneLine(`${result.project} is imported`),
    ...counts,
    ...(count > 0
      ? [
          oneLine(
            `${count} are not in the catalog: ${unmatched.slice(0, 10).join(', ')}${count > 10 ? ', …' : ''}`,
          ),
        ]
      : []),
  ]
}
