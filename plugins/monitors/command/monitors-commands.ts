/** The commands `export`, `plan`, `apply` and `monitors schema`: checks that stand in files. */
import type { Command } from 'commander'
import {
  withClient,
  withRemoteOptions,
  withTimedClient,
  type ClientOptions,
  type ServiceClient,
} from '../../../server/cli/client.ts'
import { ServiceError } from '../../../server/cli/service-error.ts'
import {
  CommandError,
  EXIT,
  printResult,
  withCompanyOption,
  type CommandContribution,
  type Terminal,
} from '../../../server/cli/command.ts'
import { timeoutOption } from '../../../server/cli/timeouts.ts'
import {
  formatFault,
  MonitorsFileError,
  writeMonitors,
  type MonitorsDocument,
} from '../file/monitors-file.ts'
import type { PresentedPlan } from '../present.ts'
import { formatPlan, hasChanges } from './format-plan.ts'
import { readMonitorsFiles, type SentFile } from './monitors-files.ts'
import { readVocabulary } from './offline-vocabulary.ts'

interface FileOptions extends ClientOptions {
  file: string[]
  prune?: true
  timeout: number
}

const SCHEMA_PATH = '/api/public/schemas/monitors.json'
const DEFAULT_TIMEOUT_SECONDS = 600
/** Exit codes of `plan`, as terraform has them: 2 says that there are changes. */
const PLAN_EXIT = { none: 0, error: 1, changes: 2 } as const

export const exportCommand: CommandContribution = {
  name: 'export',
  define(command, terminal) {
    withRemoteOptions(withCompanyOption(command.argument('<source>')))
      .description('print the checks of a source as a monitors file (YAML)')
      .addHelpText(
        'after',
        `
With --json it prints the same as JSON. Checks that no file manages yet get keys: change them before the first apply
as you like.

  tidemark export shop > monitors/shop.yaml && tidemark apply -f monitors`,
      )
      .action((source: string, options: ClientOptions) =>
        withClient(options, terminal.signal, async client => {
          const path = `/sdk/monitors/${encodeURIComponent(source)}`
          const { body } = await client.request<{ data: MonitorsDocument }>('GET', path, terminal.signal)
          const text = writeMonitors(body.data, schemaUrl(client, options))
          printResult(terminal, options, body.data, text.trimEnd())
        }),
      )
  },
}

function schemaUrl({ local }: ServiceClient, { url = '' }: ClientOptions): string {
  const base = local?.server.config.baseUrl ?? url.trim()
  return `${base.replace(/\/+$/, '')}${SCHEMA_PATH}`
}

export const planCommand: CommandContribution = {
  name: 'plan',
  define(command, terminal, outcome) {
    withFileOptions(command)
      .description('show what apply would change: the difference between monitors files and the server')
      .addHelpText(
        'after',
        `${FILES_HELP}
Ends with
  0  nothing to change
  1  an error: a faulty file, wrong usage, or a service that cannot be reached
  2  there are changes`,
      )
      // Wrong usage must not look like changes.
      .exitOverride(error => {
        outcome.usageExitCode = PLAN_EXIT.error
        throw error
      })
      .action(async (options: FileOptions) => {
        outcome.unexpectedExitCode = PLAN_EXIT.error
        const plans = await run(options, terminal, (client, files, signal) =>
          sendAll(client, files, 'plan', options, signal),
        ).catch((error: unknown) => {
          if (!(error instanceof CommandError)) throw error
          throw new CommandError(error.message, PLAN_EXIT.error, { cause: error })
        })
        printPlans(terminal, options, plans, false)
        outcome.exitCode = plans.some(hasChanges) ? PLAN_EXIT.changes : PLAN_EXIT.none
      })
  },
}

export const applyCommand: CommandContribution = {
  name: 'apply',
  define(command, terminal, outcome) {
    withFileOptions(command)
      .description('make the checks of the sources those of monitors files')
      .addHelpText(
        'after',
        `${FILES_HELP}
All files are planned first; a faulty one stops everything before a check is changed. Then each source is applied in one
transaction.

Ends with
  0  applied, or nothing to do
  2  a faulty file, wrong usage, credentials or settings
  3  no such source
  5  the service cannot be reached`,
      )
      .action(async (options: FileOptions) => {
        outcome.unexpectedExitCode = EXIT.error
        const plans = await run(options, terminal, async (client, files, signal) => {
          // One source is refused as a whole by its own apply.
          if (files.size > 1) await sendAll(client, files, 'plan', options, signal)
          return sendAll(client, files, 'apply', options, signal)
        })
        printPlans(terminal, options, plans, true)
      })
  },
}

export const monitorsCommand: CommandContribution = {
  name: 'monitors',
  define(command, terminal) {
    command
      .description('monitors files')
      .command('schema')
      .description('print the JSON Schema of monitors files, for editors')
      .action(async () => {
        const { monitorsSchema } = await import('../file/json-schema.ts')
        terminal.out(JSON.stringify(monitorsSchema(await readVocabulary()), null, 2))
      })
  },
}

const FILES_HELP = `
A folder stands for its .yaml, .yml and .json files and those below it. With --prune, name all files of a source: checks
that a file managed and none of them has are removed. Checks that were made by hand are never removed.
`

function withFileOptions(command: Command): Command {
  return withRemoteOptions(withCompanyOption(command))
    .requiredOption('-f, --file <paths...>', 'monitors files, or folders of them')
    .option('--prune', 'remove managed checks that no file has any more')
    .addOption(timeoutOption('how long it may take', DEFAULT_TIMEOUT_SECONDS))
}

type Work = (
  client: ServiceClient,
  files: ReadonlyMap<string, SentFile[]>,
  signal: AbortSignal,
) => Promise<PresentedPlan[]>

async function run(options: FileOptions, terminal: Terminal, work: Work): Promise<PresentedPlan[]> {
  try {
    const files = await readMonitorsFiles(options.file)
    return await withTimedClient(options, terminal.signal, (client, signal) => work(client, files, signal))
  } catch (error) {
    if (error instanceof MonitorsFileError)
      throw new CommandError(error.faults.map(formatFault).join('\n'), EXIT.usage)
    throw error
  }
}

/** Sends the files of each source, one source after the other. */
async function sendAll(
  client: ServiceClient,
  files: ReadonlyMap<string, SentFile[]>,
  what: 'plan' | 'apply',
  { prune = false }: { prune?: boolean },
  signal: AbortSignal,
): Promise<PresentedPlan[]> {
  const plans: PresentedPlan[] = []
  for (const [source, sent] of files) {
    const path = `/sdk/monitors/${encodeURIComponent(source)}/${what}`
    const { body } = await client
      .request<{ data: PresentedPlan }>('POST', path, signal, { files: sent, prune })
      .catch((error: unknown) => explainRefusal(error, source, sent))
    plans.push(body.data)
  }
  return plans
}

function explainRefusal(error: unknown, source: string, [first]: SentFile[]): never {
  if (!(error instanceof ServiceError)) throw error
  const { status, exitCode, isTransient, fieldErrors, message } = error
  if (status === 404 && fieldErrors.length === 0)
    throw new CommandError(`${first?.name}: there is no source ${source}: ${message}`, exitCode)
  if (status === 403) throw new CommandError(`${message}: apply requires a key of scope read-write`, exitCode)
  throw fieldErrors.length > 1 ? new CommandError(fieldErrors.join('\n'), exitCode, { isTransient }) : error
}

function printPlans(
  terminal: Terminal,
  options: ClientOptions,
  plans: readonly PresentedPlan[],
  isDone: boolean,
): void {
  printResult(terminal, options, plans, ...plans.flatMap(plan => formatPlan(plan, isDone)))
}
