/**
 * Runs the benches one after the other and prints one table of what the product takes beside what its work takes
 * without it, each measured in the same run: `npm run bench [-- --quick] [-- --only scan,jobs] [-- --verbose]`.
 *
 * The full form takes three quarters of an hour on two processors and judges what is promised of ratios. The quick one takes
 * some minutes, of so few rows that its times mean nothing: only wrong answers, plans and errors fail it.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { testCluster } from '../helpers/cluster.ts'
import { readRows, type BenchRow } from './rows.ts'

/** The arguments of each bench in both forms. */
const BENCHES: Record<string, { full: string[]; quick: string[] }> = {
  scan: { full: ['1000000', '3', 'postgresql'], quick: ['20000', '1', 'postgresql', '10'] },
  discovery: { full: ['5', '250x33000'], quick: ['1', '40x800'] },
  introspect: { full: ['5', 'postgresql', '250x33000'], quick: ['1', 'postgresql', '40x800'] },
  freshness: { full: ['5000', '1'], quick: ['200', '1'] },
  detector: { full: [], quick: ['--quick'] },
  jobs: { full: [], quick: ['--quick'] },
  deliveries: { full: ['--short'], quick: ['--quick', '--short'] },
  api: { full: ['--rounds', '3'], quick: ['--rounds', '1', '--seconds', '1'] },
  login: {
    full: ['--logins', '100', '--seconds', '5'],
    quick: ['--logins', '10', '--seconds', '1', '--flooders', '4'],
  },
  lists: { full: ['100000', '30'], quick: ['500', '2'] },
  mix: { full: [], quick: ['--quick'] },
  search: { full: ['100000', '30'], quick: ['500', '2'] },
  lineage: { full: ['10000', '40'], quick: ['1500', '2'] },
  console: { full: [], quick: ['--tables=1000', '--rounds=1', '--minutes=0'] },
  profile: { full: ['1000000', '1'], quick: ['20000', '1'] },
  recommendations: { full: [], quick: ['--seeds=tune-1', '--tables=2'] },
  watch: { full: [], quick: ['--tables=200', '--checks=20'] },
  incidents: { full: [], quick: ['--seed=tune', '--scenarios=2'] },
  history: { full: ['10000000', '30'], quick: ['100000', '2'] },
  windows: { full: ['30000000', '3'], quick: ['60000', '1'] },
  footprint: { full: [], quick: ['--quick'] },
}

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: Object.keys(BENCHES).join(',') },
    verbose: { type: 'boolean', default: false },
  },
})

/** What came of one. */
interface Result {
  name: string
  rows: BenchRow[]
  seconds: number
  /** Why it counts as failed. */
  failure?: string
}

let current: ChildProcess | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    current?.kill(signal)
    process.exit(130)
  })
const names = values.only.split(',')
const unknown = names.filter(name => !BENCHES[name])
if (unknown.length > 0)
  throw new Error(`There is no bench ${unknown.join(', ')}: there are ${Object.keys(BENCHES).join(', ')}`)

// One for all: each would start its own.
process.env.TEST_CLUSTER = JSON.stringify(await testCluster())
const results: Result[] = []
for (const name of names) results.push(await run(name))
process.exit(report(results))

async function run(name: string): Promise<Result> {
  const args = BENCHES[name]![values.quick ? 'quick' : 'full']
  const startedAt = performance.now()
  const child = spawn(process.execPath, [join(import.meta.dirname, `${name}.ts`), ...args, '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  current = child
  const output: string[] = []
  const errors: string[] = []
  child.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text))
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  const seconds = (performance.now() - startedAt) / 1_000
  console.error(`${name}: ${seconds.toFixed(0)} s`)
  if (values.verbose) console.error(output.join('') + errors.join(''))
  const rows = readRows(output.join(''))
  const isFailed = code !== 0 || rows === undefined
  return {
    name,
    rows: rows ?? [],
    seconds,
    ...(isFailed && {
      failure: `ended with ${code ?? signal}${rows ? '' : ' and printed no rows'}\n${[...output, ...errors].join('').slice(-2_000)}`,
    }),
  }
}

/** @returns the exit code */
function report(all: readonly Result[]): number {
  const [cpu] = cpus()
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  console.log(
    `${availableParallelism()} × ${cpu?.model ?? 'processor'}, ${gigabytes} GB, Node ${process.version}${values.quick ? '; short form: times mean nothing' : ''}\n`,
  )
  console.log('| What | Ours | By hand | Ratio (lowest – highest) | Unit | Goal |')
  console.log('| --- | ---: | ---: | ---: | --- | --- |')
  for (const row of all.flatMap(({ rows }) => rows)) console.log(lineOf(row))
  const total = all.reduce((sum, { seconds }) => sum + seconds, 0)
  console.log(`\n${all.length} benches in ${(total / 60).toFixed(1)} minutes`)
  const missed = values.quick ? [] : all.flatMap(({ rows }) => rows).filter(row => isMet(row) === false)
  for (const { what } of missed) console.error(`Missed: ${what}`)
  const failed = all.filter(({ failure }) => failure !== undefined)
  for (const { name, failure } of failed) console.error(`\n${name} ${failure}`)
  return missed.length + failed.length === 0 ? 0 : 1
}

function lineOf(row: BenchRow): string {
  const { what, ours, hand, unit, bar } = row
  const ratio = ratioOf(row)
  const cells = [
    what,
    figure(ours),
    hand === undefined ? '' : figure(hand),
    ratio === undefined ? '' : `${ratio.toFixed(2)}${spreadOf(row)}`,
    unit,
    bar ? `${'least' in bar ? `≥ ${bar.least}` : `≤ ${bar.most}`}${verdictOf(row)}` : '',
  ]
  return `| ${cells.join(' | ')} |`
}

function spreadOf({ spread }: BenchRow): string {
  return spread ? ` (${spread.map(ratio => ratio.toFixed(2)).join(' – ')})` : ''
}

function ratioOf({ ours, hand, ratio }: BenchRow): number | undefined {
  return ratio ?? (hand === undefined ? undefined : ours / hand)
}

function isMet(row: BenchRow): boolean | undefined {
  if (!row.bar) return undefined
  const judged = ratioOf(row) ?? row.ours
  return 'least' in row.bar ? judged >= row.bar.least : judged <= row.bar.most
}

function verdictOf(row: BenchRow): string {
  return values.quick ? '' : isMet(row) ? ', met' : ', MISSED'
}

/** Three digits, or all before the point. */
function figure(value: number): string {
  return Number.isFinite(value)
    ? value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 })
    : '–'
}
