/** The command `import`, which turns checks of other tools into a monitors file. */
import { writeFile } from 'node:fs/promises'
import { Option, type Command } from 'commander'
import {
  CommandError,
  EXIT,
  withJsonOption,
  type CommandContribution,
  type CommandOptions,
  type CommandOutcome,
  type Terminal,
} from '../../../server/cli/command.ts'
import { withoutControls } from '../../../server/cli/terminal-text.ts'
import { readTextFile } from '../../../server/cli/text-file.ts'
import { readOffline } from '../command/offline-vocabulary.ts'
import type { ImportDraft, ImportFile, ImportResult, Remark } from './import-draft.ts'
import { SQL_ENGINES, type SqlEngine } from './sql-text.ts'

interface ImportOptions extends CommandOptions {
  source: string
  engine: SqlEngine
  out?: string
  strict?: true
  table?: string
  schema?: string
}

type Convert = (files: ImportFile[], draft: ImportDraft, options: ImportOptions) => Promise<void>

export const importCommand: CommandContribution = {
  name: 'import',
  define(command, terminal, outcome) {
    command.description('turn checks of other tools into a monitors file')
    const add = (name: string, description: string, convert: Convert) =>
      addTool(command.command(`${name} <files...>`).description(description), terminal, outcome, convert)
    add(
      'dbt',
      'tests and source freshness of properties files, such as schema.yml',
      async (files, draft, options) => (await import('./dbt.ts')).importDbt(files, draft, options),
    ).option('--schema <name>', 'the schema of the models, which their files do not say')
    add(
      'great-expectations',
      'suites of expectations in JSON, which are about one table',
      async (files, draft, options) => {
        const { table, engine } = options
        if (table === undefined)
          throw new CommandError('Say with --table which table the suite is about', EXIT.usage)
        ;(await import('./great-expectations.ts')).importSuites(files, draft, { table, engine })
      },
    ).option('--table <path>', 'the table that the suite is about, such as public.orders')
    add('soda', 'checks in SodaCL', async (files, draft, options) =>
      (await import('./soda.ts')).importSoda(files, draft, options),
    )
  },
}

const HELP = `
Prints the monitors file, and on the error output what was left out and why. A construct becomes a check that fails
exactly when the other tool would, or it is left out. Look at the changes with "tidemark plan -f FILE".

Ends with
  0  all is converted, or something is left out without --strict
  1  something is left out, with --strict
  2  a file cannot be read: it is named, and the others are converted
`

function addTool(command: Command, terminal: Terminal, outcome: CommandOutcome, convert: Convert): Command {
  return withJsonOption(command)
    .requiredOption('--source <name>', 'the name of the source in Tidemark')
    .addOption(
      new Option('--engine <engine>', 'whose SQL the checks are written in')
        .choices(SQL_ENGINES)
        .default('postgresql'),
    )
    .option('--out <file>', 'write the monitors file there instead of printing it')
    .option('--strict', 'end with 1 if something is left out')
    .addHelpText('after', HELP)
    .action(async (names: string[], options: ImportOptions) => {
      outcome.unexpectedExitCode = EXIT.error
      const result = await convertFiles(names, convert, options)
      if (result.unread.length === names.length)
        throw new CommandError(result.unread.map(formatUnread).join('\n'), EXIT.usage)
      await print(terminal, options, result)
      if (result.unread.length > 0) outcome.exitCode = EXIT.usage
      else if (options.strict && result.left.length > 0) outcome.exitCode = EXIT.failed
    })
}

async function convertFiles(
  names: readonly string[],
  convert: Convert,
  options: ImportOptions,
): Promise<ImportResult> {
  const [{ startImport }, { makeImportJudge }] = await Promise.all([
    import('./import-draft.ts'),
    import('./applicable.ts'),
  ])
  const { vocabulary, dialectOf } = await readOffline()
  const draft = startImport(options.source, await makeImportJudge(vocabulary, dialectOf(options.engine)))
  const files: ImportFile[] = []
  for (const name of names)
    try {
      files.push({ name, text: await readTextFile(name) })
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      draft.refuseFile(name, error.message.replace(name, 'it'))
    }
  await convert(files, draft, options)
  return draft.finish()
}

async function print(terminal: Terminal, options: ImportOptions, result: ImportResult): Promise<void> {
  const { document, found, converted, notes, left, unread } = result
  if (options.json) {
    terminal.out(JSON.stringify({ document, found, converted, notes, left, unread }, null, 2))
    return
  }
  const { writeMonitors } = await import('../file/monitors-file.ts')
  const text = writeMonitors(document)
  if (options.out === undefined) terminal.out(text.trimEnd())
  else await writeFile(options.out, text)
  for (const note of notes) terminal.err(withoutControls(`note: ${formatRemark(note)}`))
  for (const remark of left) terminal.err(withoutControls(`left out: ${formatRemark(remark)}`))
  for (const remark of unread) terminal.err(withoutControls(formatUnread(remark)))
  terminal.err(`${found} found: ${converted} converted, ${left.length} left out`)
}

const formatUnread = ({ file, reason }: Remark): string => `not read: ${file}: ${reason}`

const formatRemark = ({ file, line, name, reason }: Remark): string =>
  `${file}${line === null ? '' : `:${line}`}: ${name}: ${reason}`
