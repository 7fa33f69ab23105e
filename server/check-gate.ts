/** The gate of a pipeline: a command that runs the checks of an asset, and ends with 0 only when they pass. */
import { Option, type Command } from 'commander'
import { fromAfar, Refusal, spoken, withClient, type Client, type ClientOptions } from './cli/client.ts'
import { answer, CommandError, EXIT, ofCompany, unlessAborted } from './cli/command.ts'
import type { Ending, Terminal } from './cli/command.ts'
import { follow } from './cli/client-job.ts'
import { limited, timeLimit } from './cli/timeouts.ts'
import { oneLine } from './cli/terminal-text.ts'

/** From the least to the worst. */
const SEVERITIES = ['info', 'warning', 'critical'] as const
type Severity = (typeof SEVERITIES)[number]

interface CheckOptions extends ClientOptions {
  table?: string
  failOn: Severity
  timeout: number
}

/** What one check found, as the service tells it; more fields pass through untouched. */
export interface Finding {
  asset: string
  name: string
  status: 'pass' | 'warning' | 'fail' | 'error'
  severity: Severity
  message: string
}

/** What all checks of an asset found, the worst first. */
export interface Checked {
  asset: string
  checks: number
  passed: number
  failed: number
  errors: number
  findings: Finding[]
}

/** What is to be said of an asset by its checks. */
export interface CheckVerdict extends Checked {
  status: 'pass' | 'fail' | 'error'
  /** One line for people. */
  message: string
}

const EXIT_OF = { pass: EXIT.fine, fail: EXIT.failed, error: EXIT.error } as const

/** Seconds that all of it may take unless told: tables are scanned one after another, each statement for a minute. */
const PATIENCE = 3_600

/** Adds what `tidemark check ASSET` takes and does. */
export function checkGate(command: Command, terminal: Terminal, ending: Ending): void {
  fromAfar(ofCompany(command))
    .description(
      'run all active checks of a table or a source now, and say by the exit code whether they pass',
    )
    .option(
      '--table <path>',
      'only this table of the source, by catalog.schema.table, or less where that is clear',
    )
    .addOption(
      new Option('--fail-on <severity>', 'the least severity of a failed check that counts')
        .choices(SEVERITIES)
        .default('info'),
    )
    .addOption(timeLimit('how long it may take', PATIENCE))
    .addHelpText('after', HELP)
    .action(async (asset: string, options: CheckOptions) => {
      ending.unexpected = EXIT.error
      const found = await limited({ signal: terminal.signal, timeout: options.timeout }, signal =>
        withClient(options, signal, client =>
          run(client, asset, options.table, { signal, note: terminal.err }),
        ),
      )
      const verdict = judgeChecks(found, options.failOn)
      answer(terminal, options, verdict, ...tableOf(verdict.findings), verdict.message)
      ending.exit = EXIT_OF[verdict.status]
    })
}

const HELP = `
<asset> is an id or a qualified name: <source>.<database>.<schema>.<table> for a table, <source> for a source. Rules,
metrics and referential checks that are active run; freshness has a command of its own.

Ends with
  0  all pass, or only checks below --fail-on fail
  1  a check fails
  2  wrong usage, credentials or settings; also an asset that has no active checks
  3  no such asset
  5  not known: a check could not run, or the service cannot be reached

After a load, before anybody reads it:
  tidemark check shop --table public.orders --fail-on warning && ./publish-orders`

interface RunOptions {
  signal: AbortSignal
  /** Takes lines for a person, beside the answer. */
  note(line: string): void
}

/** Runs the checks: in this process, where there may be no workers, or as a job of the service. */
async function run(
  client: Client,
  asset: string,
  tablePath: string | undefined,
  options: RunOptions,
): Promise<Checked> {
  return client.near
    ? runHere(client.near, asset, tablePath, options.signal)
    : runThere(client, asset, tablePath, options)
}

async function runHere(
  { server, companyId }: NonNullable<Client['near']>,
  asset: string,
  tablePath: string | undefined,
  signal: AbortSignal,
): Promise<Checked> {
  const { scans } = server.plugins
  const found = await spoken(
    (async () => {
      const target = await server.db.company(companyId, trx =>
        scans.targetOf(trx, companyId, asset, tablePath),
      )
      return unlessAborted(scans.check(target, { signal }), signal)
    })(),
  )
  if (!found) throw new CommandError(`The check of ${asset} was ended`, EXIT.error)
  return found
}

async function runThere(
  client: Client,
  asset: string,
  tablePath: string | undefined,
  { signal, note }: RunOptions,
): Promise<Checked> {
  const path = `/sdk/assets/${encodeURIComponent(asset)}/check`
  const body = tablePath === undefined ? undefined : { table_path: tablePath }
  const asked = await client.ask<{ data: { job_id: string } }>('POST', path, signal, body).catch(told)
  const what = `The check of ${asset}`
  const job = await follow<Checked>(client, asked.body.data.job_id, { what, note }, signal)
  if (job.status === 'completed' && job.result) return job.result
  const why =
    job.status === 'cancelled' ? 'was cancelled' : `failed: ${job.error?.message ?? 'nobody knows why'}`
  throw new CommandError(oneLine(`${what} ${why}`), EXIT.error)
}

function told(error: unknown): never {
  if (error instanceof Refusal && error.status === 403)
    throw new CommandError(`${error.message}: running checks takes a key of scope read-write`, EXIT.usage)
  throw error
}

/**
 * The verdict on what checks found. A check that fails is worth more than one that could not run, which is never a pass.
 * @param failOn the least severity of a failed check that counts
 */
export function judgeChecks(found: Checked, failOn: Severity): CheckVerdict {
  const counts = ({ status, severity }: Finding) =>
    status === 'fail' && SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(failOn)
  // Those that were there when it was asked for may have been removed or switched off since.
  const isUnknown = found.errors > 0 || found.checks === 0
  const status = found.findings.some(counts) ? 'fail' : isUnknown ? 'error' : 'pass'
  const { asset, checks, passed, failed, errors } = found
  const parts = [
    [failed, 'failed'],
    [errors, 'could not run'],
    [passed, 'passed'],
  ] as const
  const said = parts.flatMap(([number, what]) => (number > 0 ? [`${number} ${what}`] : [])).join(', ')
  const spared = status !== 'fail' && failed > 0 ? `; no failure is of severity ${failOn} or worse` : ''
  const message = oneLine(
    `${status}: of ${checks} checks of ${asset} ${said || 'none is active any more'}${spared}`,
  )
  return { ...found, status, message }
}

/** A line a finding, in columns. */
function tableOf(findings: readonly Finding[]): string[] {
  const cells = findings.map(({ status, severity, asset, name, message }) => [
    status,
    status === 'fail' ? severity : '',
    oneLine(asset),
    oneLine(`${name}: ${message}`),
  ])
  const widths = [0, 1, 2].map(place => Math.max(0, ...cells.map(row => row[place]!.length)))
  return cells.map(row =>
    row
      .map((cell, place) => cell.padEnd(widths[place] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
