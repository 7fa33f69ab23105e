/** The commands that show and mend the queues of jobs. */
import { InvalidArgumentError, Option, type Command } from 'commander'
import {
  CommandError,
  EXIT,
  printResult,
  withJsonOption,
  withServer,
  type CommandContribution,
  type CommandOptions,
  type Terminal,
} from './command.ts'
import { integerBetween } from './option-values.ts'
import {
  discardDead,
  listDead,
  listQueues,
  type DeadFilter,
  type DeadRecord,
  type QueueRecord,
} from '../jobs/dead-letters.ts'

interface DeadOptions extends CommandOptions {
  queue?: string
  id?: string
  limit: number
  all?: true
}

/** `jobs list|dead|redrive|discard`. */
export const jobsCommand: CommandContribution = {
  name: 'jobs',
  define(command, terminal) {
    command.description('the job queues and their dead jobs')
    addListQueues(command.command('list'), terminal)
    addListDead(command.command('dead'), terminal)
    addRedrive(command.command('redrive'), terminal)
    addDiscard(command.command('discard'), terminal)
  },
}

function addListQueues(command: Command, terminal: Terminal): void {
  withJsonOption(command)
    .description('the queues and how many jobs wait in them')
    .action((options: CommandOptions) =>
      withServer(terminal, async server => {
        const queues = await listQueues(server.jobs, server)
        printResult(terminal, options, queues, QUEUE_HEADER, ...queues.map(formatQueue))
      }),
    )
}

function addListDead(command: Command, terminal: Terminal): void {
  withJobFilter(command)
    .description('jobs that failed for good, latest first, and why')
    .addOption(
      new Option('--limit <jobs>', 'how many to show').argParser(integerBetween(1, 10_000)).default(100),
    )
    .action((options: DeadOptions) =>
      withServer(terminal, async server => {
        const result = await listDead(server, filterOf(options), options)
        const { dead, total } = result
        const more = total > dead.length ? [`… and ${total - dead.length} more: raise --limit`] : []
        const lines = total === 0 ? ['There are no dead jobs'] : [...dead.map(formatDeadJob), ...more]
        printResult(terminal, options, result, ...lines)
      }),
    )
}

function addRedrive(command: Command, terminal: Terminal): void {
  withJobFilter(command)
    .description('send dead jobs to their queues again')
    .option('--all', 'those of all queues')
    .action((options: DeadOptions) =>
      withServer(terminal, async server => {
        const redriven = await server.jobs.redrive(requireFilter(options))
        assertFound(options, redriven)
        printResult(terminal, options, { redriven }, `Sent ${redriven} jobs to their queues again`)
      }),
    )
}

function addDiscard(command: Command, terminal: Terminal): void {
  withJobFilter(command)
    .description('delete dead jobs for good')
    .option('--all', 'those of all queues')
    .action((options: DeadOptions) =>
      withServer(terminal, async server => {
        const discarded = await discardDead(server, requireFilter(options))
        assertFound(options, discarded)
        printResult(terminal, options, { discarded }, `Discarded ${discarded} jobs`)
      }),
    )
}

export const dashboardCommand: CommandContribution = {
  name: 'dashboard',
  define(command, terminal) {
    command
      .description('show the queues in a browser, on this machine only, until Ctrl-C')
      .addOption(
        new Option('--port <port>', 'the port it listens on')
          .argParser(integerBetween(1, 65_535))
          .default(8_001),
      )
      .option('--user <name>', 'the user name to sign in with', 'operator')
      .option('--changes', 'also allow to retry, cancel and delete jobs; defaults to read-only')
      .action(async (options: { port: number; user: string; changes?: true }) => {
        const { openDashboard } = await import('./dashboard.ts')
        await openDashboard(terminal, options)
      })
  },
}

function withJobFilter(command: Command): Command {
  return withJsonOption(command)
    .option('--queue <queue>', 'those of one queue, such as scans.run')
    .addOption(new Option('--id <id>', 'one of them').argParser(parseJobId))
}

/** Changing all jobs takes `--all`, never just a missing filter. */
function requireFilter({ queue, id, all }: DeadOptions): DeadFilter {
  if (queue === undefined && id === undefined && !all)
    throw new CommandError('Say which: --id, --queue or --all', EXIT.usage)
  return filterOf({ queue, id })
}

const filterOf = ({ queue, id }: Pick<DeadOptions, 'queue' | 'id'>): DeadFilter => ({
  ...(queue !== undefined && { queue }),
  ...(id !== undefined && { ids: [id] }),
})

function assertFound({ id }: DeadOptions, count: number): void {
  if (id !== undefined && count === 0) throw new CommandError(`There is no dead job ${id}`, EXIT.notFound)
}

const QUEUE_HEADER = formatColumns(['queue', 'waiting', 'later', 'running', 'dead', 'oldest waiting', 'lag'])

function formatQueue({
  queue,
  waiting,
  later,
  running,
  dead,
  oldest_waiting_at: oldest,
  lag_seconds: lag,
}: QueueRecord) {
  return formatColumns([queue, waiting, later, running, dead, oldest?.toISOString() ?? '–', `${lag} s`])
}

function formatColumns([queue, waiting, later, running, dead, oldest, lag]: (string | number)[]): string {
  const numbers = [waiting, later, running, dead].map(number => String(number).padStart(8)).join('')
  return `${String(queue).padEnd(24)}${numbers}  ${String(oldest).padEnd(24)}${String(lag).padStart(10)}`
}

function formatDeadJob({ id, queue, died_at: at, attempts, reason }: DeadRecord): string {
  return `${id}  ${queue.padEnd(20)}  ${at.toISOString()}  ${attempts} tries  ${reason ?? ''}`
}

function parseJobId(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text))
    throw new InvalidArgumentError('Give the id of a job.')
  return text
}
