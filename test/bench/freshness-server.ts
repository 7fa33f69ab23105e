/** A server in a process of its own that sweeps on request, for `freshness.ts`. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { sweepJob } from '../../plugins/checks/jobs.ts'
import { startServer } from '../helpers/server.ts'

/** What there is to know of the server to use it. */
export interface Stage {
  url: string
  database: string
  companyId: string
  key: string
}

/** What a sweep cost the process. */
export interface Cost {
  cpuMs: number
  /** The longest that nothing else got its turn. */
  pauseMs: number
  peakMb: number
  /** The slowest answer to continuous health checks; null without them. */
  slowestMs: number | null
}

/** The server, as its parent has it. */
export interface Running extends Stage {
  /** Sends the job of a sweep and measures until something is over; `isPolled` asks for its health meanwhile. */
  sweep(isOver: (dispatchId: string) => Promise<boolean>, isPolled: boolean): Promise<Cost>
  stop(): Promise<void>
}

type Question = 'sweep' | 'measured' | 'end'
type Answer = Stage | { dispatchId: string } | Pick<Cost, 'cpuMs' | 'pauseMs'>

/** Milliseconds between two looks at whether a sweep is over, and between two questions for its health. */
const POLL_INTERVAL_MS = 50

/** The child's side: serves until its parent ends it. Sweeps come only when asked for. */
export async function serve(): Promise<void> {
  const downs: (() => unknown)[] = []
  // What the first attempts of deliveries cost is no part of a sweep: they come in an hour.
  const settings = { WEBHOOK_DELAYS: '3600' }
  const app = await startServer({ teardown: down => downs.push(down) }, { settings })
  const { companyId, key } = await app.signUp()
  const [found] = await app.query('select current_database() as database')
  const delays = monitorEventLoopDelay({ resolution: 2 })
  let cpu = process.cpuUsage()
  const answer = (given: Answer) => process.send?.(given)
  process.on('message', (question: Question) => {
    void (async () => {
      if (question === 'sweep') {
        delays.reset()
        delays.enable()
        cpu = process.cpuUsage()
        answer({ dispatchId: await app.server.jobs.send(sweepJob, {}) })
      } else if (question === 'measured') {
        delays.disable()
        const { user, system } = process.cpuUsage(cpu)
        answer({ cpuMs: (user + system) / 1000, pauseMs: delays.max / 1e6 })
      } else {
        for (const down of downs.reverse()) await down()
        process.disconnect()
      }
    })()
  })
  process.once('disconnect', () => process.exit())
  answer({ url: app.server.info.uri, database: String(found?.database), companyId, key })
}

/** Starts the child from a file that calls `serve` when BENCH_FRESHNESS is set. */
export async function startChild(file: string): Promise<Running> {
  const child = fork(file, {
    // As `npm start`: with less room, the process collects its garbage earlier.
    execArgv: ['--max-old-space-size=1024', '--max-semi-space-size=8'],
    env: { ...process.env, BENCH_FRESHNESS: 'server' },
  })
  const stage = await answerOf<Stage>(child)
  return {
    ...stage,
    async sweep(isOver, isPolled) {
      await forgetPeak(child)
      child.send('sweep' satisfies Question)
      const { dispatchId } = await answerOf<{ dispatchId: string }>(child)
      const over = new AbortController()
      const polling = isPolled ? poll(`${stage.url}/health`, over.signal) : null
      try {
        while (!(await isOver(dispatchId))) await pause()
      } finally {
        over.abort()
      }
      const slowestMs = await polling
      child.send('measured' satisfies Question)
      const cost = await answerOf<Pick<Cost, 'cpuMs' | 'pauseMs'>>(child)
      return { ...cost, peakMb: await peakMb(child), slowestMs }
    },
    async stop() {
      const ended = once(child, 'exit')
      child.send('end' satisfies Question)
      await ended
    },
  }
}

async function answerOf<Given extends Answer>(child: ChildProcess): Promise<Given> {
  const ended = new AbortController()
  const { signal } = ended
  const died = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`the server ended with ${code}`)
  })
  died.catch(() => {})
  const [given] = await Promise.race([once(child, 'message', { signal }) as Promise<[Given]>, died])
  ended.abort()
  return given
}

async function poll(url: string, signal: AbortSignal): Promise<number> {
  let slowest = 0
  while (!signal.aborted) {
    const startedAt = performance.now()
    const { status } = await fetch(url)
    if (status !== 200) throw new Error(`${url} gave ${status}`)
    slowest = Math.max(slowest, performance.now() - startedAt)
    await pause()
  }
  return slowest
}

function pause(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, POLL_INTERVAL_MS))
}

/** Linux keeps the peak of a process's memory, and can begin anew; NaN elsewhere. */
async function forgetPeak({ pid }: ChildProcess): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5').catch(() => {})
}

async function peakMb({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmHWM:\s*(\d+) kB/m.exec(status)?.[1] ?? NaN) / 1024
}
