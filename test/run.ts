/**
 * Runs tests against one PostgreSQL cluster that all files share, several processes at a time:
 * `node test/run.ts [quick|rest|all] [files] [--jobs=4] [--timeout=420] [--minutes=5]`. Without files it runs a ring of
 * the suite (`test/runner/rings.ts`), and with `quick` and `all` also types, lint and formatting. Prints what failed as it
 * fails, the CPU seconds of what took the most, and a line of totals; ends with 1 when anything failed. After `--minutes`
 * no further file begins: which files run then depends on `TEST_SEED`, and those left out are listed.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, constants } from 'node:os'
import { delimiter, join } from 'node:path'
import { parseArgs } from 'node:util'
import { startTestCluster } from './helpers/cluster.ts'
import { checkBudget } from './runner/budget.ts'
import { divideFiles, FileQueue } from './runner/file-queue.ts'
import { cpuSecondsOf, runProcess, signalRunning, type ProcessReport } from './runner/processes.ts'
import {
  formatTotals,
  readFailures,
  readFiles,
  readSkips,
  readTotals,
  sumTotals,
  type Totals,
} from './runner/report.ts'
import { filesOfRing, isRing, shareOfRing, type Ring } from './runner/rings.ts'
import { rankOf } from './runner/seed.ts'
import { STATIC_CHECKS } from './runner/static-checks.ts'

/** A process or a file that was run, and what its tests found. */
interface Finished {
  name: string
  cpuSeconds: number
  totals: Totals
}

const root = join(import.meta.dirname, '..')
/** Tests make much that is soon garbage: with more room for it, Node collects it less often, for 4 % less CPU. */
const NODE_FLAGS = ['--max-semi-space-size=64', `--import=${join(root, 'test/runner/error-domain.ts')}`]
/** How many processes and files the summary lists. */
const MAX_LISTED = 40
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { jobs: { type: 'string' }, timeout: { type: 'string' }, minutes: { type: 'string' } },
})
const ring: Ring = positionals.find(isRing) ?? 'all'
const namedFiles = positionals.filter(word => !isRing(word))
const timeoutSeconds = Number(values.timeout ?? 420)
const deadline = values.minutes === undefined ? null : Date.now() + Number(values.minutes) * 60_000
// Two to a core: a test waits for the database for nearly half its time.
const jobCount = Number(values.jobs ?? 2 * availableParallelism())

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    signalRunning('SIGTERM')
    setTimeout(() => {
      signalRunning('SIGKILL')
      process.exit(128 + constants.signals[signal])
    }, 1_000)
  })
}

const cluster = await startTestCluster({}, { inMemory: true })
const environment = {
  ...process.env,
  PATH: `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH}`,
  // Each process loads the whole service, and some start more: what one has compiled serves the others.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(root, '.tap/compile-cache'),
  TEST_CLUSTER: JSON.stringify(cluster),
  TAP_TIMEOUT: String(timeoutSeconds),
  ...(namedFiles.length === 0 && {
    TEST_RING: ring,
    TEST_SHARE: process.env.TEST_SHARE ?? String(shareOfRing(ring)),
  }),
}

await buildTap()

const finished: Finished[] = []
const skips = new Set<string>()
/** Files that time did not suffice for. */
const leftOut: string[] = []
let queue: FileQueue | undefined
const recordFile = join(root, '.tap/cpu-seconds.json')
const recorded = readRecord()

await runCheck({ name: 'types of the client', command: ['node', 'test/runner/client-types.ts'] })
await runQueue([
  ...(namedFiles.length === 0 && ring !== 'rest' ? STATIC_CHECKS.map(check => () => runCheck(check)) : []),
  ...testTasks(),
])
finished.push({ name: 'PostgreSQL', cpuSeconds: cpuSecondsOf(cluster.pid()), totals: sumTotals([]) })
process.exit(printSummary() ? 0 : 1)

/** Named files get a process each; those of a ring share a few, of which each takes the next file when it has run one. */
function testTasks(): (() => Promise<void>)[] {
  if (namedFiles.length > 0) return namedFiles.map(file => () => runFile(file))
  const { alone, shared } = divideFiles(root, inOrder(filesOfRing(root, ring)))
  const sharedQueue = FileQueue.create(join(root, '.tap/queue'), shared, deadline)
  queue = sharedQueue
  const tasks = alone.map(file => async () => {
    if (isOver()) leftOut.push(file)
    else await runFile(file)
  })
  const sharing = Array.from({ length: jobCount }, () => () => runShared(sharedQueue))
  // Where time may run out, both kinds get half of it.
  return deadline === null
    ? [...tasks, ...sharing]
    : [...sharing.splice(0, jobCount / 2), ...tasks, ...sharing]
}

function isOver(): boolean {
  return deadline !== null && Date.now() > deadline
}

/** The longest of the run before first, so that none is left over at the end; where time may run out, by the seed. */
function inOrder(files: readonly string[]): string[] {
  const seconds = (file: string) => recorded[file] ?? Infinity
  if (deadline === null) return [...files].sort((a, b) => seconds(b) - seconds(a) || 0)
  return files.toSorted((a, b) => (rankOf('files', a) < rankOf('files', b) ? -1 : 1))
}

/**
 * Builds tap without its TypeScript plugin, as .taprc says, where a new installation still has it: the template's own
 * tests would do so while other processes load tap.
 */
async function buildTap(): Promise<void> {
  const built = readFileSync(join(root, 'node_modules/@tapjs/test/test-built/dist/esm/index.js'), 'utf8')
  if (!built.includes('@tapjs/typescript')) return
  await runProcess([join(root, 'node_modules/.bin/tap'), 'build'], {
    cwd: root,
    env: environment,
    timeoutSeconds,
  })
}

async function runQueue(tasks: readonly (() => Promise<void>)[]): Promise<void> {
  const waiting = tasks.values()
  const work = async () => {
    for (const task of waiting) await task()
  }
  await Promise.all(Array.from({ length: jobCount }, work))
}

async function runFile(file: string): Promise<void> {
  const isNamed = namedFiles.length > 0
  const isLive = namedFiles.length === 1
  const report = await runProcess([process.execPath, ...NODE_FLAGS, join(root, file)], {
    cwd: root,
    env: environment,
    // tap's own timeout says what is open; this one ends a process whose event loop is blocked.
    timeoutSeconds: 4 * timeoutSeconds,
    ...(isLive && { onOutput: text => process.stdout.write(text) }),
  })
  const { totals, isPassed } = judge(report)
  if (isNamed && !isLive) process.stdout.write(`# ${file}\n${report.output}`)
  finish({ name: file, cpuSeconds: report.cpuSeconds, totals }, isPassed)
  if (!isPassed && !isNamed) printFailures(report)
}

/** Runs a process that takes files from the queue, and another one when it has crashed and left some. */
async function runShared(queue: FileQueue): Promise<void> {
  while (queue.left().length > 0 && !isOver()) {
    const counted = { seconds: 0, failures: 0 }
    let unread = ''
    const report = await runProcess([process.execPath, ...NODE_FLAGS, queue.addProcess()], {
      cwd: root,
      env: { ...environment, TEST_QUEUE: queue.folder },
      // Each file has tap's own timeout; the process lasts as long as the run.
      timeoutSeconds: 8 * timeoutSeconds,
      onOutput(text) {
        const { files, rest } = readFiles(unread + text)
        unread = rest
        for (const { file, cpuSeconds, output } of files) {
          const failures = readFailures(output)
          finish({ name: file, cpuSeconds, totals: sumTotals([]) }, failures.length === 0)
          for (const failure of failures) console.log(failure)
          counted.seconds += cpuSeconds
          counted.failures += failures.length
        }
      },
    })
    const { totals, isPassed } = judge(report)
    const name = 'loading of what files share'
    finish(
      { name, cpuSeconds: report.cpuSeconds - counted.seconds, totals },
      isPassed || counted.failures > 0,
    )
    if (!isPassed) printFailures({ ...report, output: unread })
  }
}

/** A process that ends early, or without a test, counts as one failure. */
function judge({ code, output }: ProcessReport): { totals: Totals; isPassed: boolean } {
  for (const skip of readSkips(output)) skips.add(skip)
  const totals = readTotals(output)
  const isPassed = code === 0 && totals !== null && totals.total > 0 && totals.fail === 0
  const counted = totals ?? sumTotals([])
  if (!isPassed && counted.fail === 0) Object.assign(counted, { total: counted.total + 1, fail: 1 })
  return { totals: counted, isPassed }
}

async function runCheck({ name, command }: { name: string; command: readonly string[] }): Promise<void> {
  const report = await runProcess(command, {
    cwd: root,
    env: environment,
    timeoutSeconds: 4 * timeoutSeconds,
  })
  const isPassed = report.code === 0
  const totals = { ...sumTotals([]), total: 1, pass: Number(isPassed), fail: Number(!isPassed) }
  finish({ name, cpuSeconds: report.cpuSeconds, totals }, isPassed)
  if (!isPassed) console.log(report.output)
}

function finish(ended: Finished, isPassed: boolean): void {
  finished.push(ended)
  recorded[ended.name] = ended.cpuSeconds
  if (namedFiles.length === 0 || !isPassed)
    console.log(`${isPassed ? 'ok' : 'not ok'} - ${ended.name} # ${ended.cpuSeconds.toFixed(1)} s of CPU`)
}

function printFailures({ output, code, isTimedOut }: ProcessReport): void {
  const failures = readFailures(output)
  for (const failure of failures) console.log(failure)
  if (isTimedOut) console.log(`It took more than ${timeoutSeconds} s and was ended.`)
  // Nothing failed by an assertion: what the process wrote last says why it ended.
  if (failures.length === 0) console.log(`It ended with code ${code}:\n${output.slice(-5_000)}`)
}

/** Prints skips, CPU seconds and totals; returns whether everything passed. */
function printSummary(): boolean {
  for (const skip of [...skips].sort()) console.log(`skipped: ${skip}`)
  leftOut.push(...(queue?.left() ?? []))
  if (leftOut.length > 0) console.log(`not run: ${leftOut.join(' ')}`)
  finished.sort((a, b) => b.cpuSeconds - a.cpuSeconds)
  console.log('CPU seconds of what took the most:')
  for (const { name, cpuSeconds } of finished.slice(0, MAX_LISTED))
    console.log(`${cpuSeconds.toFixed(1).padStart(7)}  ${name}`)
  const used = finished.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
  const totals = sumTotals(finished.map(({ totals }) => totals))
  const excess = namedFiles.length === 0 ? checkBudget(root, ring, used) : null
  if (excess) {
    console.log(`not ok - ${excess}`)
    Object.assign(totals, { total: totals.total + 1, fail: totals.fail + 1 })
  }
  if (namedFiles.length === 0) {
    mkdirSync(join(root, '.tap'), { recursive: true })
    writeFileSync(recordFile, JSON.stringify(recorded, null, 2))
  }
  console.log(`${used.toFixed(1)} s of CPU in all`)
  console.log(formatTotals(totals))
  return totals.fail === 0
}

function readRecord(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(recordFile, 'utf8')) as Record<string, number>
  } catch {
    return {}
  }
}
