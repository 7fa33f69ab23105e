/**
 * How many jobs that do nothing are done a second, and how long after it is sent a job begins, by the product's engine
 * beside pg-boss alone (one job a worker, and in batches; the faster one is the reference) and beside a loop of SKIP
 * LOCKED by hand:
 * `node test/bench/jobs.ts [--quick] [--json]`.
 *
 * Each has a process and a database of its own, sends its jobs and does them, eight at once. They take turns, and
 * medians of the rounds are printed; lag is measured on jobs that come one by one, from before their transaction begins.
 * A job that is never done, or done twice, ends it with an error.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { testCluster } from '../helpers/cluster.ts'
import { startServer } from '../helpers/server.ts'
import { startSource } from '../helpers/source.ts'
import { WAYS, type Way } from './jobs-ways.ts'
import { median, quantile, printRows, withTeardown, type BenchRow, type Teardown } from './rows.ts'

const { values } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'boolean' } } })
const BURST = values.quick ? 500 : 5_000
const SINGLES = values.quick ? 40 : 400
const ROUNDS = values.quick ? 1 : 3
/** Milliseconds between jobs that come one by one, and until a job that was not done counts as lost. */
const PAUSE = 25
const ANSWER_TIMEOUT_MS = 60_000

/** What a child is asked for, and what it answers. */
type Question = { burst: number } | { singles: number }
interface Answer {
  perSecond?: number
  cpuMs?: number
  lags?: number[]
}

if (process.env.BENCH_JOBS) await serve(process.env.BENCH_JOBS, String(process.env.DATABASE_URL))
else await withTeardown(main)

/** The child: answers its parent's questions until it is released. */
async function serve(name: string, url: string): Promise<void> {
  const begun = new Map<number, number>()
  let sent = 0
  let isAll = Promise.withResolvers<void>()
  const way = await WAYS[name]!(url, n => {
    if (begun.has(n)) throw new Error(`job ${n} was done twice`)
    begun.set(n, performance.now())
    if (begun.size === sent) isAll.resolve()
  })
  process.on('message', (question: Question) => {
    void (async () => {
      begun.clear()
      isAll = Promise.withResolvers()
      sent = 'burst' in question ? question.burst : question.singles
      // For this question alone: an earlier one was answered long before its time is over.
      const { promise: done, reject } = isAll
      AbortSignal.timeout(ANSWER_TIMEOUT_MS).addEventListener('abort', () =>
        reject(new Error(`${begun.size} of ${sent} jobs were done by ${name}`)),
      )
      process.send?.(
        'burst' in question ? await burst(way, sent, done) : await singles(way, sent, begun, done),
      )
    })()
  })
  process.once('disconnect', () => void way.stop().finally(() => process.exit()))
  process.send?.('ready')
}

async function burst(way: Way, count: number, done: Promise<void>): Promise<Answer> {
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  await way.send(Array.from({ length: count }, (_, n) => n))
  await done
  const seconds = (performance.now() - startedAt) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  return { perSecond: count / seconds, cpuMs: (user + system) / 1_000 / count }
}

async function singles(
  way: Way,
  count: number,
  begun: ReadonlyMap<number, number>,
  done: Promise<void>,
): Promise<Answer> {
  const sentAt: number[] = []
  for (let n = 0; n < count; n += 1) {
    sentAt.push(performance.now())
    await way.send([n])
    await wait(PAUSE)
  }
  await done
  return { lags: sentAt.map((at, n) => begun.get(n)! - at) }
}

async function main(t: Teardown): Promise<void> {
  const cluster = await testCluster()
  process.env.TEST_CLUSTER = JSON.stringify(cluster)
  const app = await startServer(t, { settings: { ROLE: 'web' } })
  const { user, password, host, port } = cluster
  const children = new Map<string, ChildProcess>()
  for (const name of Object.keys(WAYS)) {
    const own = async () =>
      `postgres://${user}:${encodeURIComponent(password)}@${host}:${port}/${(await startSource(t)).name}`
    children.set(name, await start(t, name, name === 'ours' ? app.server.config.databaseUrl! : await own()))
  }
  const answersByName = new Map([...children.keys()].map(name => [name, [] as Answer[]]))
  // The first round is not yet compiled and does not count.
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const question of [{ burst: round ? BURST : 200 }, { singles: round ? SINGLES : 10 }])
      for (const [name, child] of children) {
        const answer = await ask(child, question)
        if (round > 0) answersByName.get(name)!.push(answer)
      }
  const figures = new Map([...answersByName].map(([name, answers]) => [name, figuresOf(answers)]))
  console.table(Object.fromEntries(figures))
  printRows(rowsOf(figures))
}

async function start(t: Teardown, name: string, url: string): Promise<ChildProcess> {
  const child = fork(import.meta.filename, {
    execArgv: ['--max-old-space-size=1024', '--max-semi-space-size=8'],
    env: { ...process.env, BENCH_JOBS: name, DATABASE_URL: url },
  })
  t.teardown(async () => {
    const ended = once(child, 'exit')
    if (child.connected) child.disconnect()
    if (child.exitCode === null) await ended
  })
  await answerOf(child)
  return child
}

async function ask(child: ChildProcess, question: Question): Promise<Answer> {
  child.send(question)
  return (await answerOf(child)) as Answer
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const ended = new AbortController()
  const { signal } = ended
  const died = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`a process of the bench ended with ${code}`)
  })
  died.catch(() => undefined)
  const [answer] = (await Promise.race([once(child, 'message', { signal }), died])) as [unknown]
  ended.abort()
  return answer
}

type Figures = ReturnType<typeof figuresOf>

function figuresOf(answers: readonly Answer[]) {
  const lags = answers.flatMap(answer => answer.lags ?? [])
  const of = (key: 'perSecond' | 'cpuMs') => median(answers.flatMap(answer => answer[key] ?? []))
  const rates = answers.flatMap(({ perSecond = NaN }) => (perSecond > 0 ? [Math.round(perSecond)] : []))
  return {
    'a second': Math.round(of('perSecond')),
    spread: `${Math.min(...rates)} to ${Math.max(...rates)}`,
    'CPU ms each': Number(of('cpuMs').toFixed(2)),
    'lag p50 ms': Number(median(lags).toFixed(1)),
    'lag p99 ms': Number(quantile(lags, 0.99).toFixed(1)),
  }
}

function rowsOf(figures: ReadonlyMap<string, Figures>): BenchRow[] {
  const of = (name: string) => figures.get(name)!
  const [boss] = [...figures.keys()]
    .filter(name => name.startsWith('pg-boss'))
    .toSorted((a, b) => of(b)['a second'] - of(a)['a second'])
  const row = (
    key: Exclude<keyof Figures, 'spread'>,
    hand: string,
    more: Omit<BenchRow, 'ours' | 'hand'>,
  ): BenchRow => ({
    ours: of('ours')[key],
    hand: of(hand)[key],
    ...more,
  })
  return [
    row('a second', boss!, { what: 'jobs, beside pg-boss alone', unit: 'a second', bar: { least: 0.5 } }),
    row('a second', 'by hand', { what: 'jobs, beside a loop of SKIP LOCKED', unit: 'a second' }),
    row('lag p50 ms', boss!, { what: 'a job begins, p50, beside pg-boss', unit: 'ms' }),
    row('lag p99 ms', boss!, { what: 'a job begins, p99, beside pg-boss', unit: 'ms' }),
    row('lag p99 ms', 'by hand', { what: 'a job begins, p99, beside the loop', unit: 'ms' }),
  ]
}
