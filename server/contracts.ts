/** The command that says whether a data contract is valid. */
import { readFile } from 'node:fs/promises'
import { Option, type Command } from 'commander'
import { Refusal, sendOpenly } from './cli/client.ts'
import { answer, CommandError, EXIT, json, type Ending, type Options, type Terminal } from './cli/command.ts'
import { hasErrorData } from './http/errors.ts'
import { oneLine } from './cli/terminal-text.ts'

interface Finding {
  path: string
  line: number | null
  message: string
  keyword: string
}

interface Verdict {
  valid: boolean
  api_version: string | null
  errors: Finding[]
  warnings: Finding[]
}

const PATH = '/api/public/contracts/validate'

/** Adds `contracts validate`. */
export function contractCommands(parent: Command, terminal: Terminal, ending: Ending): void {
  json(parent.command('validate <file>'))
    .description('say whether a data contract (ODCS, YAML or JSON) is valid, and where it is not')
    .addOption(
      new Option('--url <url>', 'ask the service at this address, instead of validating here').env(
        'TIDEMARK_URL',
      ),
    )
    .addOption(
      new Option('--key <key>', 'taken as by other commands; contracts need none').env('TIDEMARK_API_KEY'),
    )
    .addHelpText('after', HELP)
    .action(async (file: string, options: Options & { url?: string }) => {
      ending.unexpected = EXIT.error
      const verdict = await verdictOf(file, options.url?.trim() ?? '', terminal.signal).catch(
        (error: unknown) => {
          if (!options.json || !(error instanceof CommandError) || error.exit !== EXIT.usage) throw error
          return { error: { code: 'UNREADABLE', message: error.message, details: { file } } }
        },
      )
      if ('error' in verdict) {
        answer(terminal, options, verdict)
        ending.exit = EXIT.usage
        return
      }
      answer(terminal, options, verdict, ...linesOf(file, verdict))
      ending.exit = verdict.valid ? EXIT.fine : EXIT.failed
    })
}

const HELP = `
Needs neither settings nor a database, unless --url (or TIDEMARK_URL) names a service that shall do it.

Ends with
  0  valid
  1  not valid
  2  wrong usage, or a file that cannot be read: not there, no YAML, larger than 256 KiB
  5  not known: the service at --url does not answer

With --json a file that cannot be read is printed as {"error": {"code": "UNREADABLE", "message", "details"}}.`

/** @throws CommandError with exit code 2 for a file that cannot be read */
async function verdictOf(file: string, url: string, signal: AbortSignal): Promise<Verdict> {
  const text = await textOf(file)
  return judge(text, url, signal).catch((error: unknown) => {
    throw isUnreadable(error) ? new CommandError(describeFaults(file, error.message), EXIT.usage) : error
  })
}

/** Faults of a text that is no YAML that are shown; those that follow mostly come from the first. */
const MAX_FAULTS = 5

/** A line for each of the first faults, from one message that joins all of them. */
function describeFaults(file: string, message: string): string {
  const faults = message.split(/; (?=line \d+: )/)
  const shown = faults.slice(0, MAX_FAULTS).map(fault => oneLine(`${file}: ${fault}`))
  const left = faults.length - shown.length
  return [...shown, ...(left > 0 ? [`… and ${left} more`] : [])].join('\n')
}

async function textOf(file: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file))
  } catch (error) {
    const { code } = error as { code?: string }
    const why = code === 'ENOENT' ? 'is not there' : code === 'EISDIR' ? 'is a folder' : WHY_NOT[code ?? '']
    throw new CommandError(`${file} ${why ?? `cannot be read (${code ?? 'unknown'})`}`, EXIT.usage)
  }
}

const WHY_NOT: Record<string, string> = {
  EACCES: 'may not be read',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'is not UTF-8',
}

/** Near and from afar alike: the text is no YAML, nested too deeply, or too large. */
function isUnreadable(error: unknown): error is Error {
  const status = error instanceof Refusal ? error.status : hasErrorData(error) && error.output.statusCode
  return [400, 413, 422].some(known => known === status)
}

async function judge(text: string, url: string, signal: AbortSignal): Promise<Verdict> {
  if (url !== '') {
    const sent = { path: PATH, body: text, contentType: 'application/yaml' }
    return (await sendOpenly<{ data: Verdict }>(url, sent, signal)).data
  }
  // Loaded by this command only: it is all there is.
  const { manifest } = await import('./manifest.ts')
  const { valid, api_version, errors, warnings } = await manifest.validateContract(text)
  return { valid, api_version, errors, warnings }
}

function linesOf(file: string, { valid, api_version: version, errors, warnings }: Verdict): string[] {
  const line = (kind: string) => (found: Finding) =>
    oneLine(
      `${file}:${found.line === null ? '' : `${found.line}:`} ${kind}: ${found.path || 'the contract'}: ${found.message}`,
    )
  const count = (findings: Finding[], what: string) =>
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
