/** The commands `contracts validate`, `contracts test`, `contracts draft` and `contracts plan`. */
import { Option } from 'commander'
import { postPublic } from '../../server/cli/client.ts'
import { ServiceError } from '../../server/cli/service-error.ts'
import {
  CommandError,
  EXIT,
  printResult,
  withJsonOption,
  type CommandContribution,
  type CommandOptions,
} from '../../server/cli/command.ts'
import { hasErrorData } from '../../server/http/errors.ts'
import { oneLine } from '../../server/cli/terminal-text.ts'
import { defineDraft } from './draft-command.ts'
import { definePlan } from './plan-command.ts'
import { readTextFile } from '../../server/cli/text-file.ts'
import type { ContractFinding, ContractVerdict } from './findings.ts'
import { defineTest } from './test-command.ts'

type PrintedVerdict = Omit<ContractVerdict, 'found'>

const VALIDATE_PATH = '/api/public/contracts/validate'

export const contractsCommand: CommandContribution = {
  name: 'contracts',
  define(command, terminal, outcome) {
    command.description('data contracts')
    defineTest(command, terminal, outcome)
    defineDraft(command, terminal)
    definePlan(command, terminal)
    withJsonOption(command.command('validate <file>'))
      .description('validate a data contract (ODCS, YAML or JSON) and list what is wrong')
      .addOption(
        new Option('--url <url>', 'validate with the service at this address instead of here').env(
          'TIDEMARK_URL',
        ),
      )
      .addOption(
        new Option('--key <key>', 'accepted as by other commands; contracts need none').env(
          'TIDEMARK_API_KEY',
        ),
      )
      .addHelpText('after', HELP)
      .action(async (file: string, options: CommandOptions & { url?: string }) => {
        outcome.unexpectedExitCode = EXIT.error
        const verdict = await validateFile(file, options.url?.trim() ?? '', terminal.signal).catch(
          (error: unknown) => {
            if (!options.json || !(error instanceof CommandError) || error.exitCode !== EXIT.usage)
              throw error
            return { error: { code: 'UNREADABLE', message: error.message, details: { file } } }
          },
        )
        if ('error' in verdict) {
          printResult(terminal, options, verdict)
          outcome.exitCode = EXIT.usage
          return
        }
        printResult(terminal, options, verdict, ...formatVerdict(file, verdict))
        outcome.exitCode = verdict.valid ? EXIT.success : EXIT.failed
      })
  },
}

const HELP = `
Needs neither settings nor a database, unless --url (or TIDEMARK_URL) names a service.

Ends with
  0  valid
  1  not valid
  2  wrong usage, or a file that cannot be read: not there, no YAML, larger than 256 KiB
  5  unknown: the service at --url does not answer

With --json a file that cannot be read is printed as {"error": {"code": "UNREADABLE", "message", "details"}}.`

/** @throws CommandError with exit code 2 for a file that cannot be read */
async function validateFile(file: string, url: string, signal: AbortSignal): Promise<PrintedVerdict> {
  const text = await readTextFile(file)
  return validateContract(text, url, signal).catch((error: unknown) => {
    throw isUnreadable(error) ? new CommandError(describeFaults(file, error.message), EXIT.usage) : error
  })
}

/** Faults shown of a text that is not YAML; later ones mostly follow from the first. */
const MAX_FAULTS = 5

/** One line for each of the first faults; the message joins them with semicolons. */
function describeFaults(file: string, message: string): string {
  const faults = message.split(/; (?=line \d+: )/)
  const shown = faults.slice(0, MAX_FAULTS).map(fault => oneLine(`${file}: ${fault}`))
  const left = faults.length - shown.length
  return [...shown, ...(left > 0 ? [`… and ${left} more`] : [])].join('\n')
}

/** Whether the text is not YAML, nested too deeply or too large, locally or as the service replied. */
function isUnreadable(error: unknown): error is Error {
  const status = error instanceof ServiceError ? error.status : hasErrorData(error) && error.output.statusCode
  return [400, 413, 422].some(known => known === status)
}

async function validateContract(text: string, url: string, signal: AbortSignal): Promise<PrintedVerdict> {
  if (url !== '') {
    const sent = { path: VALIDATE_PATH, body: text, contentType: 'application/yaml' }
    return (await postPublic<{ data: PrintedVerdict }>(url, sent, signal)).data
  }
  // Imported here: it loads the validator's schemas.
  const { validateOwn } = await import('./validator.ts')
  const { valid, api_version, errors, warnings } = validateOwn({ text }).verdict
  return { valid, api_version, errors, warnings }
}

function formatVerdict(file: string, { valid, api_version: version, errors, warnings }: PrintedVerdict) {
  const line = (kind: string) => (found: ContractFinding) =>
    oneLine(
      `${file}:${found.line === null ? '' : `${found.line}:`} ${kind}: ${found.path || 'the contract'}: ${found.message}`,
    )
  const count = (findings: ContractFinding[], what: string) =>
    `${findings.length} ${what}${findings.length === 1 ? '' : 's'}`
  return [
    ...errors.map(line('error')),
    ...warnings.map(line('warning')),
    oneLine(
      `${file}: ${valid ? 'valid' : 'not valid'}${version === null ? '' : `, ODCS ${version}`}, ` +
        `${count(errors, 'error')}, ${count(warnings, 'warning')}`,
    ),
  ]
}
