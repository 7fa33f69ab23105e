/** The command `check ASSET`, a gate for pipelines: runs the checks of an asset and exits with 0 only when they pass. */
import { Option } from 'commander'
import {
  withRemoteOptions,
  withServiceErrors,
  withTimedClient,
  type ClientOptions,
  type ServiceClient,
} from '../../server/cli/client.ts'
import {
  CommandError,
  EXIT,
  printResult,
  unlessAborted,
  withCompanyOption,
  type CommandContribution,
} from '../../server/cli/command.ts'
import { runJob, type JobWatch } from '../../server/cli/client-job.ts'
import { timeoutOption } from '../../server/cli/timeouts.ts'
import { alignCells, oneLine } from '../../server/cli/terminal-text.ts'
import type { AssetCheckResult } from './types.ts'

/** From least to worst. */
const SEVERITIES = ['info', 'warning', 'critical'] as const
type CheckSeverity = (typeof SEVERITIES)[number]

interface CheckCommandOptions extends ClientOptions {
  table?: string
  failOn: CheckSeverity
  timeout: number
}

/** The result of one check, as the service returns it; unknown fields pass through. */
export type CheckFinding = Omit<AssetCheckResult['findings'][number], 'id' | 'feature'>

/** The results of all checks of an asset, worst first. */
export type PrintedChecks = Omit<AssetCheckResult, 'tables' | 'statements' | 'parts' | 'findings'> & {
  findings: CheckFinding[]
}

/** The overall verdict on an asset. */
export interface CheckVerdict extends PrintedChecks {
  status: 'pass' | 'fail' | 'error'
  /** One line for people. */
  message: string
}

const EXIT_CODE_BY_STATUS = { pass: EXIT.success, fail: EXIT.failed, error: EXIT.error } as const

/** Tables are scanned one after another, each statement for up to a minute. */
const DEFAULT_TIMEOUT_SECONDS = 3_600

export const checkCommand: CommandContribution = {
  name: 'check',
  define(command, terminal, outcome) {
    withRemoteOptions(withCompanyOption(command.argument('<asset>')))
      .description('run all active checks of a table or a source now; the exit code is the answer')
      .option(
        '--table <path>',
        'only this table of the source, by catalog.schema.table, or less where that is unambiguous',
      )
      .addOption(
        new Option('--fail-on <severity>', 'the least severity of a failed check that counts')
          .choices(SEVERITIES)
          .default('info'),
      )
      .addOption(timeoutOption('how long it may take', DEFAULT_TIMEOUT_SECONDS))
      .addHelpText('after', HELP)
      .action(async (asset: string, options: CheckCommandOptions) => {
        outcome.unexpectedExitCode = EXIT.error
        const result = await withTimedClient(options, terminal.signal, (client, signal) =>
          runChecks(client, asset, options.table, { signal, note: terminal.err }),
        )
        const verdict = judgeChecks(result, options.failOn)
        printResult(terminal, options, verdict, ...formatFindings(verdict.findings), verdict.message)
        outcome.exitCode = EXIT_CODE_BY_STATUS[verdict.status]
      })
  },
}

const HELP = `
<asset> is an id or a qualified name: <source>.<database>.<schema>.<table> for a table, <source> for a source. Rules,
metrics, referential checks and comparisons that are active run; freshness has a command of its own.

Ends with
  0  all pass, or only checks below --fail-on fail
  1  a check fails
  2  wrong usage, credentials or settings; also an asset that has no active checks
  3  no such asset
  5  unknown: a check could not run, or the service cannot be reached

After a load, before the data is used:
  tidemark check shop --table public.orders --fail-on warning && ./publish-orders`

/** Runs the checks in this process when it uses the database directly (workers may not run), else as a job of the service. */
async function runChecks(
  client: ServiceClient,
  asset: string,
  tablePath: string | undefined,
  options: JobWatch,
): Promise<AssetCheckResult> {
  return client.local
    ? runLocally(client.local, asset, tablePath, options.signal)
    : runJob(
        client,
        {
          path: `/sdk/assets/${encodeURIComponent(asset)}/check`,
          jobsPath: '/sdk/jobs',
          body: tablePath === undefined ? undefined : { table_path: tablePath },
          what: `The check of ${asset}`,
          needs: 'running checks requires a key of scope read-write',
        },
        options,
      )
}

async function runLocally(
  { server, companyId }: NonNullable<ServiceClient['local']>,
  asset: string,
  tablePath: string | undefined,
  signal: AbortSignal,
): Promise<AssetCheckResult> {
  const { checks } = server.plugins
  const found = await withServiceErrors(
    (async () => {
      const target = await server.db.company(companyId, trx =>
        checks.resolveTarget(trx, companyId, asset, tablePath),
      )
      return unlessAborted(checks.checkAsset(target, { signal }), signal)
    })(),
  )
  if (!found) throw new CommandError(`The check of ${asset} was cancelled`, EXIT.error)
  return found
}

/**
 * Judges the results of checks. A failed check outweighs one that could not run, which is never a pass.
 * @param failOn the least severity of a failed check that counts
 */
export function judgeChecks(found: PrintedChecks, failOn: CheckSeverity): CheckVerdict {
  const counts = ({ status, severity }: CheckFinding) =>
    status === 'fail' && SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(failOn)
  // Checks that were active at the request may have been removed or paused since.
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

/** One line per finding, in aligned columns. */
export function formatFindings(findings: readonly CheckFinding[]): string[] {
  const cells = findings.map(({ status, severity, asset, name, message }) => [
    status,
    status === 'fail' ? severity : '',
    oneLine(asset),
    oneLine(`${name}: ${message}`),
  ])
  return alignCells(cells)
}
