import { Command, CommanderError } from 'commander'
import { ConfigError, describeSettings, readConfig, readExtensionNames } from '../settings/config.ts'
import { featureCommands } from '../feature-commands.ts'
import { Registry } from '../registry.ts'
import { makeLog } from '../telemetry/log.ts'
import { version } from '../version.ts'
import {
  CommandError,
  commandShape,
  EXIT,
  printResult,
  withJsonOption,
  withServer,
  type CommandContribution,
  type CommandOptions,
  type CommandOutcome,
  type Terminal,
} from './command.ts'
import { dashboardCommand, jobsCommand } from './jobs-commands.ts'
import { LineError } from './line-filter.ts'
import { addRotateCommand } from './rotate-command.ts'
import { withoutControls } from './terminal-text.ts'

/** Errors whose message is a sentence for the operator. */
const OPERATOR_ERRORS = ['ConfigError', 'StartError', 'ExtensionError', 'LineError', 'CommandError']

/**
 * Runs the command line.
 * @param words what follows the program's name
 * @returns the exit code: 0 success, 1 failed, 2 wrong usage or settings, 3 not found; commands that judge return 1
 *   for a bad verdict and 5 when they could not reach one
 */
export async function runCommand(words: readonly string[], terminal: Terminal): Promise<number> {
  const outcome: CommandOutcome = { exitCode: EXIT.success, unexpectedExitCode: EXIT.failed }
  try {
    const program = makeProgram(await registerCommands(words), terminal, outcome)
    await program.parseAsync(words, { from: 'user' })
    return outcome.exitCode
  } catch (error) {
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? EXIT.success : (outcome.usageExitCode ?? EXIT.usage)
    const { message, stack } = error as Error
    const status = (error as { output?: { statusCode?: number } }).output?.statusCode
    const isOurs = OPERATOR_ERRORS.includes((error as Error).name) || (status !== undefined && status < 500)
    terminal.err(withoutControls(isOurs ? message : (stack ?? message)))
    if (error instanceof CommandError) return error.exitCode
    if (error instanceof ConfigError || error instanceof LineError || status === 400) return EXIT.usage
    return status === 404 ? EXIT.notFound : outcome.unexpectedExitCode
  }
}

/** The commands of host and features, and those of extensions unless the first word is known or an option. */
async function registerCommands(words: readonly string[]): Promise<CommandContribution[]> {
  const commands = new Registry<CommandContribution>('command', commandShape)
  commands.add(startCommand, migrateCommand, settingsCommand, jobsCommand, dashboardCommand)
  commands.add(...featureCommands)
  const [first = ''] = words
  if (!first.startsWith('-') && !commands.has(first)) {
    const { importExtensions } = await import('../extensions.ts')
    const modules = await importExtensions(readExtensionNames())
    commands.add(...modules.flatMap(module => (module.commands ?? []) as CommandContribution[]))
  }
  return commands.all()
}

function makeProgram(commands: readonly CommandContribution[], terminal: Terminal, outcome: CommandOutcome) {
  const program = new Command('tidemark')
    .description('Data observability for databases and warehouses')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: text => terminal.out(text.trimEnd()),
      writeErr: text => terminal.err(text.trimEnd()),
    })
    .showHelpAfterError('(add --help for what is allowed)')
  for (const { name, define } of commands) define(program.command(name), terminal, outcome)
  return program
}

const startCommand: CommandContribution = {
  name: 'start',
  define(command, terminal) {
    command.description('serve until Ctrl-C; the settings are environment variables').action(async () => {
      const config = readConfig()
      const { serve } = await import('../process/start.ts')
      await serve(config, makeLog(config), terminal.out, terminal.signal)
    })
  },
}

const migrateCommand: CommandContribution = {
  name: 'migrate',
  define(command, terminal) {
    withJsonOption(command)
      .description('bring the database up to date, without serving')
      .action((options: CommandOptions) =>
        withServer(terminal, async () =>
          printResult(terminal, options, { migrated: true }, 'The database is up to date'),
        ),
      )
  },
}

const settingsCommand: CommandContribution = {
  name: 'settings',
  define(command, terminal) {
    withJsonOption(command)
      .description('every setting, its value and its default')
      .action((options: CommandOptions) => {
        const settings = describeSettings()
        printResult(terminal, options, settings, ...formatSettings(settings))
      })
    addRotateCommand(command.command('rotate-secret'), terminal)
  },
}

function formatSettings(settings: ReturnType<typeof describeSettings>): string[] {
  const groups = Map.groupBy(settings, ({ group }) => group)
  const lines = [...groups].flatMap(([group, members]) => [
    '',
    group,
    ...members.flatMap(({ name, value, default: fallback, about }) => {
      const origin = value !== null ? '' : fallback === null ? '  (not set)' : '  (default)'
      return [`  ${name}=${value ?? fallback ?? ''}${origin}`, `      ${about}`]
    }),
  ])
  return lines.slice(1)
}
