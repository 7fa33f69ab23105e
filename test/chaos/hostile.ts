/**
 * Sends to receivers that do harm, many at once, beside one that does not: `node test/chaos/hostile.ts [times]`, 200
 * times each by default, 32 at once each. No attempt may take longer than its 30 seconds, the process may not keep
 * memory of it, and the healthy receiver may not wait.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { postGuarded } from '../../plugins/alerts/destinations/post.ts'
import { HARMS, startHostileReceiver } from './hostile-receiver.ts'

/** Most attempts at once to one receiver. */
const MAX_IN_FLIGHT = 32
/** Seconds that an attempt may take beside pauses of the whole process, and MiB that all may leave behind. */
const MAX_ATTEMPT_SECONDS = 30.5
const MAX_LEFT_MIB = 30

/** What one receiver did to those who sent to it. */
interface Suffered {
  harm: string
  attempts: number
  /** Attempts by how they ended: a status or a class of error. */
  ends: Record<string, number>
  /** Seconds that the longest one took. */
  longest: number
}

/** What became of it all. */
interface Report {
  suffered: Suffered[]
  /** MiB of the process before, at most, and when all was over. */
  memory: { before: number; most: number; after: number }
  /** The longest that the process did not come to its turn, in seconds: of a machine that is too busy. */
  pause: number
  /** Milliseconds that posts to the healthy receiver took, sorted. */
  healthy: number[]
}

/** Plays it. @param times of each harm */
export async function endureHarms(times: number): Promise<Report & { broken: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'tidemark-hostile-'))
  const receiver = await startHostileReceiver(folder)
  try {
    const child = fork(import.meta.filename, [receiver.url, String(times)], {
      // As `npm start`.
      execArgv: ['--max-old-space-size=1024', '--max-semi-space-size=8', '--expose-gc'],
      env: { ...process.env, HOSTILE_SENDER: 'yes', NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem') },
    })
    const died = once(child, 'exit').then(([code]) =>
      Promise.reject(new Error(`the sender ended with ${code}`)),
    )
    died.catch(() => undefined)
    const [report] = (await Promise.race([once(child, 'message'), died])) as [Report]
    return { ...report, broken: broken(report) }
  } finally {
    receiver.end()
    await rm(folder, { recursive: true })
  }
}

function broken({ suffered, memory, pause }: Report): string[] {
  const kept = memory.after - memory.before
  return [
    ...suffered
      .filter(({ longest }) => longest > MAX_ATTEMPT_SECONDS + pause)
      .map(({ harm, longest }) => `${harm}: an attempt took ${longest.toFixed(1)} s`),
    ...(kept > MAX_LEFT_MIB ? [`${kept.toFixed(0)} MiB were left behind`] : []),
  ]
}

const policy = { allow: ['127.0.0.0/8'] }
const post = (url: string) =>
  postGuarded(url, { headers: { 'content-type': 'application/json' }, body: '{"a":1}', policy })

/** The sender's side. */
async function send(url: string, times: number): Promise<Report> {
  const quick = ['a gigabyte', 'half a body', '100 KB of headers', 'a gzip bomb']
  for (let round = 0; round < 4; round += 1)
    await Promise.all(
      quick.flatMap(harm => Array.from({ length: MAX_IN_FLIGHT }, () => post(`${url}/${harm}`))),
    )
  const over = new AbortController()
  const pauses = monitorEventLoopDelay({ resolution: 20 })
  const memory = { before: await settledMemory(), most: 0, after: 0 }
  const watching = watchMemory(memory, over.signal)
  const beside = postOften(`${url}/ok`, over.signal)
  pauses.enable()
  const suffered = await Promise.all(Object.keys(HARMS).map(harm => suffer(url, harm, times)))
  const pause = pauses.max / 1e9
  over.abort()
  await watching
  const healthy = (await beside).sort((a, b) => a - b)
  memory.after = await settledMemory()
  return { suffered, memory, pause, healthy }
}

async function suffer(url: string, harm: string, times: number): Promise<Suffered> {
  const suffered: Suffered = { harm, attempts: times, ends: {}, longest: 0 }
  let left = times
  const one = async () => {
    while (left-- > 0) {
      const startedAt = performance.now()
      const { statusCode, errorClass } = await post(`${url}/${harm}`)
      suffered.longest = Math.max(suffered.longest, (performance.now() - startedAt) / 1_000)
      const end = String(statusCode ?? errorClass)
      suffered.ends[end] = (suffered.ends[end] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: MAX_IN_FLIGHT }, one))
  return suffered
}

async function postOften(url: string, signal: AbortSignal): Promise<number[]> {
  const took: number[] = []
  while (!signal.aborted) {
    const startedAt = performance.now()
    const { isDelivered } = await post(url)
    took.push(isDelivered ? performance.now() - startedAt : Infinity)
    await wait(100)
  }
  return took
}

function megabytes(): number {
  return process.memoryUsage.rss() / 1024 / 1024
}

/** What is left when the garbage is collected. */
async function settledMemory(): Promise<number> {
  for (let round = 0; round < 5; round += 1) {
    globalThis.gc?.()
    await wait(200)
  }
  return megabytes()
}

async function watchMemory(memory: Report['memory'], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    memory.most = Math.max(memory.most, megabytes())
    await wait(250)
  }
}

function print({ suffered, memory, pause, healthy, broken: failed }: Report & { broken: string[] }): void {
  const rows = suffered.map(({ harm, attempts, ends, longest }) => {
    const ended = Object.entries(ends).map(([end, count]) => `${end} ×${count}`)
    return { harm, attempts, 'longest s': Number(longest.toFixed(1)), ended: ended.join(', ') }
  })
  console.table(rows)
  const [before, most, after] = [memory.before, memory.most, memory.after].map(mb => mb.toFixed(0))
  console.log(`MiB of the process: ${before} before, ${most} at most, ${after} when all was over`)
  console.log(`the longest pause of the process: ${(pause * 1_000).toFixed(0)} ms`)
  const at = (share: number) =>
    healthy[Math.min(healthy.length - 1, Math.floor(share * healthy.length))]?.toFixed(0)
  console.log(
    `ms to the healthy receiver beside: ${at(0.5)} p50, ${at(0.99)} p99, ${at(1)} at most of ${healthy.length}`,
  )
  for (const sentence of failed) console.error(sentence)
}

if (process.argv[1] === import.meta.filename) {
  const [, , first, second] = process.argv
  if (process.env.HOSTILE_SENDER === 'yes') {
    process.send?.(await send(String(first), Number(second)))
    process.disconnect()
  } else {
    const report = await endureHarms(Number(first ?? 200))
    print(report)
    if (report.broken.length > 0) process.exitCode = 1
  }
}
