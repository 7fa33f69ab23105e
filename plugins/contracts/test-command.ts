/** The command `contracts test`, a gate for pipelines. */
import { Option, type Command } from 'commander'
import {
  withRemoteOptions,
  withServiceErrors,
  withTimedClient,
  type ClientOptions,
  type ServiceClient,
} from '../../server/cli/client.ts'
import { runJob, type JobWatch } from '../../server/cli/client-job.ts'
import {
  EXIT,
  printResult,
  unlessAborted,
  withCompanyOption,
  type CommandOutcome,
  type Terminal,
} from '../../server/cli/command.ts'
import { oneLine } from '../../server/cli/terminal-text.ts'
import { timeoutOption } from '../../server/cli/timeouts.ts'
import { readTextFile } from '../../server/cli/text-file.ts'
import type { ContractTestResult } from './testing/test-contract.ts'

interface TestOptions extends ClientOptions {
  source: string
  extraColumns: 'allow' | 'fail'
  timeout: number
}

const DEFAULT_TIMEOUT_SECONDS = 900

const HELP = `
Reads the catalog of the source, and runs the checks of the contract once, one scan a table. Nothing is stored, no alert
is raised.

Ends with
  0  every clause that can be enforced holds
  1  a clause does not hold, or could not be judged
  2  wrong usage, credentials or settings; also a file that is no valid contract
  3  no such source
  5  unknown: the service or the source cannot be reached

Before a contract is merged:
  tidemark contracts test orders.odcs.yaml --source shop`

/** Adds the command to its group. */
export function defineTest(group: Command, terminal: Terminal, outcome: CommandOutcome): void {
  withRemoteOptions(withCompanyOption(group.command('test <file>')))
    .description('judge all clauses of a contract on a source now; the exit code is the answer')
    .requiredOption('--source <source>', 'the source, by id or name')
    .addOption(
      new Option('--extra-columns <policy>', 'whether columns that the contract does not name break it')
        .choices(['allow', 'fail'])
        .default('allow'),
    )
    .addOption(timeoutOption('how long it may take', DEFAULT_TIMEOUT_SECONDS))
    .addHelpText('after', HELP)
    .action(async (file: string, options: TestOptions) => {
      outcome.unexpectedExitCode = EXIT.error
      const text = await readTextFile(file)
      const result = await withTimedClient(options, terminal.signal, (client, signal) =>
        runTest(client, text, options, { signal, note: terminal.err }),
      )
      printResult(terminal, options, result, ...formatClauses(result), formatSummary(file, result))
      outcome.exitCode = result.status === 'pass' ? EXIT.success : EXIT.failed
    })
}

/** Runs the test in this process when it uses the database directly (workers may not run), else as a job of the service. */
async function runTest(
  client: ServiceClient,
  text: string,
  { source, extraColumns }: TestOptions,
  options: JobWatch,
): Promise<ContractTestResult> {
  if (client.local) {
    const { server, companyId } = client.local
    const testing = server.plugins.contracts.test(companyId, { text, source, extraColumns }, options.signal)
    return withServiceErrors(unlessAborted(testing, options.signal))
  }
  const path = `/sdk/assets/${encodeURIComponent(source)}/contract-test`
  const body = { contract: text, extra_columns: extraColumns }
  return runJob(client, { path, jobsPath: '/sdk/jobs', body, what: 'The test of the contract' }, options)
}

const WORDS = { passing: 'pass', failing: 'FAIL', pending: 'error', not_enforced: 'not enforced' } as const

/** One line for each clause that does not pass. */
function formatClauses({ clauses }: ContractTestResult): string[] {
  const shown = clauses.filter(({ status }) => status !== 'passing')
  const width = Math.max(0, ...shown.map(({ status }) => WORDS[status].length))
  return shown.map(({ status, title, reason }) => {
    const text = oneLine(`${title}${reason === null ? '' : `: ${reason}`}`)
    return `${WORDS[status].padEnd(width)}  ${text}`
  })
}

function formatSummary(file: string, { status, source, counts }: ContractTestResult): string {
  const { passing, failing, pending, not_enforced: open } = counts
  const parts = [
    [failing, 'failed'],
    [pending, 'could not be judged'],
    [passing, 'passed'],
    [open, 'cannot be enforced'],
  ] as const
  const said = parts.flatMap(([count, what]) => (count > 0 ? [`${count} ${what}`] : [])).join(', ')
  return oneLine(`${status}: ${file} on ${source}: ${said || 'the contract has no clauses'}`)
}
