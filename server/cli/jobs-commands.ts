/** The commands that show and mend the queues of jobs. */
import { InvalidArgumentError, Option, type Command } from 'commander'
import { answer, CommandError, EXIT, json, withServer, type Options, type Terminal } from './command.ts'
import {
  discardDead,
  listDead,
  listQueues,
  type DeadFilter,
  type DeadRecord,
  type QueueRecord,
} from '../jobs/dead-letters.ts'

interface DeadOptions extends Options {
  queue?: string
  id?: string
  limit: number
  all?: true
}

/** Adds `jobs list|dead|redrive|discard`. */
export function jobCommands(parent: Command, terminal: Terminal): void {
  json(parent.command('list').description('the queues, and what waits in them')).action((options: Options) =>
    withServer(terminal, async server => {
      const queues = await listQueues(server)
      answer(terminal, options, queues, QUEUE_HEAD, ...queues.map(queueLine))
    }),
  )
  chosen(parent.command('dead').description('jobs that were given up on, latest first, and why'))
    .addOption(new Option('--limit <jobs>', 'how many to show').argParser(atMost(10_000)).default(100))
    .action((options: DeadOptions) =>
      withServer(terminal, async server => {
        const found = await listDead(server, options, options.limit)
        const { dead, total } = found
        const more = total > dead.length ? [`… and ${total - dead.length} more: raise --limit`] : []
        const lines = total === 0 ? ['No job was given up on'] : [...dead.map(deadLine), ...more]
        answer(terminal, options, found, ...lines)
      }),
    )
  chosen(parent.command('redrive').description('send jobs that were given up on to their queues again'))
    .option('--all', 'those of all queues')
    .action((options: DeadOptions) =>
      withServer(terminal, async server => {
        const redriven = await server.jobs.redrive(meant(options))
        assertFound(options, redriven)
        answer(terminal, options, { redriven }, `Sent ${redriven} jobs to their queues again`)
      }),
    )
  chosen(parent.command('discard').description('take jobs that were given up on away for good'))
    .option('--all', 'those of all queues')
    .action((options: DeadOptions) =>
      withServer(terminal, async server => {
        const discarded = await discardDead(server, meant(options))
        assertFound(options, discarded)
        answer(terminal, options, { discarded }, `Discarded ${discarded} jobs`)
      }),
    )
}

/** Adds `dashboard`. */
export function dashboardCommand(command: Command, terminal: Terminal): void {
  command
    .description('show the queues in a browser, on this machine only, until Ctrl-C')
    .addOption(new Option('--port <port>', 'where it listens').argParser(atMost(65_535)).default(8_001))
    .option('--user <name>', 'who signs in', 'operator')
    .option('--changes', 'also retry, cancel and delete jobs there; without it, it only shows them')
    .action(async (options: { port: number; user: string; changes?: true }) => {
      const { openDashboard } = await import('./dashboard.ts')
      await openDashboard(terminal, options)
    })
}

function chosen(command: Command): Command {
  return json(command)
    .option('--queue <queue>', 'those of one queue, such as scans.run')
    .addOption(new Option('--id <id>', 'one of them').argParser(uuid))
}

/** Nobody means all of them by saying nothing. */
function meant({ queue, id, all }: DeadOptions): DeadFilter {
  if (queue === undefined && id === undefined && !all)
    throw new CommandError('Say which: --id, --queue or --all', EXIT.usage)
  return { queue, id }
}

function assertFound({ id }: DeadOptions, count: number): void {
  if (id !== undefined && count === 0)
    throw new CommandError(`There is no job ${id} among those given up on`, EXIT.notFound)
}

const QUEUE_HEAD = line(['queue', 'waiting', 'later', 'running', 'dead', 'oldest waiting', 'lag'])

function queueLine({
  queue,
  waiting,
  later,
  running,
  dead,
  oldest_waiting_at: oldest,
  lag_seconds: lag,
}: QueueRecord) {
  return line([queue, waiting, later, running, dead, oldest?.toISOString() ?? '–', `${lag} s`])
}

function line([queue, waiting, later, running, dead, oldest, lag]: (string | number)[]): string {
  const numbers = [waiting, later, running, dead].map(number => String(number).padStart(8)).join('')
  return `${String(queue).padEnd(24)}${numbers}  ${String(oldest).padEnd(24)}${String(lag).padStart(10)}`
}

function deadLine({ id, queue, died_at: at, attempts, reason }: DeadRecord): string {
  return `${id}  ${queue.padEnd(20)}  ${at.toISOString()}  ${attempts} tries  ${reason ?? ''}`
}

function atMost(most: number): (text: string) => number {
  return text => {
    const number = /^\d{1,5}$/.test(text) ? Number(text) : NaN
    if (!(number >= 1 && number <= most)) throw new InvalidArgumentError(`Give a number from 1 to ${most}.`)
    return number
  }
}

function uuid(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text))
    throw new InvalidArgumentError('Give the id of a job.')
  return text
}
