/**
 * How well the detector finds what is wrong, beside simpler ones, and what it costs:
 * `node test/bench/detector.ts [folder] [--series N] [--salt a] [--peers final,baselines:dqops] [--quick]`.
 *
 * Without a folder the series are made here: N of each family (default 8), others with another salt. With one, they
 * are those of its syn-dev.jsonl and real-dev.jsonl, all or the first N of each family; its `detectors/` are run
 * beside ours, and its `eval.mjs` has to find the same scores. `--quick` is short enough to run at every change. How
 * good a score is and how long anything takes is printed, never judged; a verdict that contradicts itself or looks
 * ahead fails.
 */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import {
  contradictions,
  judgeAll,
  judgedOf,
  lookAhead,
  meanOf,
  ours,
  plainZ,
  pointwise,
  scoreOf,
  type Detector,
  type Question,
  type DetectorScore,
  type Verdicts,
} from './detector-score.ts'
import { makeSeries, type Series } from './detector-series.ts'
import { measureCosts, measurePlain, type Cost } from './detector-timing.ts'
import { printRows } from './rows.ts'

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    series: { type: 'string' },
    salt: { type: 'string', default: 'a' },
    peers: { type: 'string', default: 'final,baselines:dqops,baselines:elementary,baselines:re_data' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const folder = positionals[0] === undefined ? null : resolve(positionals[0])
const each = given.series ? Number(given.series) : given.quick ? 2 : folder ? Infinity : 8

if (!(each > 0)) throw new Error('--series is the number of series of each family.')

const SUITES = ['metric', 'validity', 'operating', 'freshness', 'inj']
const HEADS = ['metric', 'validity', 'operating', 'freshness', 'real(inj)', 'score']
const GUARDS = ['FAR@2', 'FAR@3', 'v FAR@2', 'recall@3', 'contract', 'ahead']

const all = folder ? readSeries(folder) : makeSeries(given.salt, each)
console.log(`${all.length} series; F1 at 3, averaged over families; FAR = false alarms per 100 normal values`)
console.log(line('', [...HEADS, ...GUARDS]))

const verdicts = judgeAll(ours, all)
const contradicted = contradictions(verdicts)
const ahead = lookAhead(verdicts, given.quick ? 200 : 1_000)
printScores('ours', verdicts, ahead)
printScores('plain z', judgeAll(plainZ, all))
if (folder) {
  for (const peer of given.peers.split(',').filter(Boolean))
    printScores(peer, judgeAll(await peerOf(folder, peer), all))
  console.log(
    'Peers without an opinion on updates are given one: late after 1.5 times the 95th percentile of gaps.',
  )
}
const costs = measureCosts(given.quick ? 5 : 25)
tellCosts(costs)

const disagreements = folder ? await disagreementsWith(folder) : []
for (const disagreement of disagreements) console.error(disagreement)
if (contradicted > 0) console.error(`${contradicted} verdicts contradict themselves.`)
if (ahead > 0) console.error(`${ahead} verdicts depend on later values.`)
if (contradicted + ahead + disagreements.length > 0) process.exitCode = 1
const plainMs = measurePlain(given.quick ? 100 : 1_000)
printRows(
  costs
    .filter(({ interval, operating }) => interval === 'hourly' && operating === 'off')
    .map(({ series, incrementalMs }) => ({
      what: `verdict on ${series} of a year, beside mean and deviation`,
      ours: 1_000 * incrementalMs,
      hand: 1_000 * plainMs,
      unit: 'µs',
    })),
)

/** Those that are scored, the first few of each family. */
function readSeries(from: string): Series[] {
  const seen = new Map<string, number>()
  return ['syn-dev.jsonl', 'real-dev.jsonl']
    .flatMap(file => readFileSync(join(from, file), 'utf8').trim().split('\n'))
    .filter(text => text !== '')
    .map(text => JSON.parse(text) as Series)
    .filter(({ suite, family }) => {
      const before = seen.get(family) ?? 0
      seen.set(family, before + 1)
      return SUITES.includes(suite) && before < each
    })
}

/** One row of the table; what was not measured is a dash. */
function printScores(name: string, said: Verdicts, differing?: number): void {
  const f1s = SUITES.map(suite => scoreOf(said, suite, 3).f1)
  const metricAt3 = scoreOf(said, 'metric', 3)
  const guards = [
    scoreOf(said, 'metric', 2).far.toFixed(2),
    metricAt3.far.toFixed(2),
    scoreOf(said, 'validity', 2).far.toFixed(2),
    metricAt3.recall.toFixed(3),
    String(contradictions(said)),
    differing === undefined ? '-' : String(differing),
  ]
  const scores = [...f1s, meanOf(f1s.filter(Number.isFinite))]
  console.log(line(name, [...scores.map(f1 => (Number.isFinite(f1) ? f1.toFixed(3) : '-')), ...guards]))
}

function line(name: string, cells: readonly string[]): string {
  return name.padEnd(22) + cells.map(cell => cell.padStart(10)).join('')
}

function tellCosts(costs: readonly Cost[]): void {
  const heads = ['next ms', 'first ms', 'parse ms', 'replay ms', 'state kB']
  console.log(
    '\nMedians at 365 points: a verdict and its advance, in a row and from a parsed state; a replay',
  )
  console.log(line('', ['interval', 'operating', ...heads]))
  for (const cost of costs) {
    const times = [cost.incrementalMs, cost.firstMs, cost.parseMs].map(ms => ms.toFixed(3))
    const rest = [cost.replayMs.toFixed(1), (cost.stateBytes / 1000).toFixed(1)]
    console.log(line(cost.series, [cost.interval, cost.operating, ...times, ...rest]))
  }
}

type Ask = (question: Question, series: Series, index: number) => DetectorScore

/** A detector of the folder, by `file` or `file:variant`. */
async function peerOf(from: string, name: string): Promise<Detector> {
  const updates = await askOf(from, 'fresh:p99x15')
  const values = await askOf(from, name)
  const judgesUpdates = name === 'final' || name.startsWith('fresh')
  return pointwise((question, series, index) => {
    const ask = question.kind === 'freshness' && !judgesUpdates ? updates : values
    return ask(question, series, index)
  })
}

async function askOf(from: string, name: string): Promise<Ask> {
  const [file, variant] = name.split(':')
  const module = (await importOf(join(from, 'detectors', `${file}.mjs`))) as {
    make?: (variant?: string) => Ask | undefined
    detect: Ask
  }
  const ask = module.make ? module.make(variant) : module.detect
  if (!ask) throw new Error(`No detector ${name} in ${from}.`)
  return ask
}

interface Scorer {
  score(all: readonly Series[], said: Map<string, Map<number, DetectorScore>>, threshold: number): object
  macro(families: object, suite: string, key: 'f1' | 'far' | 'recall'): number
  contract(
    all: readonly Series[],
    said: Map<string, Map<number, DetectorScore>>,
    threshold: number,
  ): Record<string, number>
}

/** What the folder's scorer finds otherwise in our verdicts. */
async function disagreementsWith(from: string): Promise<string[]> {
  const scorer = (await importOf(join(from, 'eval.mjs'))) as Scorer
  const said = new Map(
    [...verdicts].map(([series, of]) => [series.id, new Map(judgedOf(series).map((i, k) => [i, of[k]!]))]),
  )
  const { n: _asked, ...broken } = scorer.contract(all, said, 3)
  const theirs = Object.values(broken).reduce((sum, count) => sum + count, 0)
  const isSame = theirs > 0 === contradicted > 0
  const found = isSame ? [] : [`The other scorer finds ${theirs} contradictions.`]
  for (const suite of SUITES) {
    for (const threshold of [2, 3]) {
      const own = scoreOf(verdicts, suite, threshold)
      const families = scorer.score(all, said, threshold)
      for (const key of ['f1', 'far', 'recall'] as const) {
        const other = scorer.macro(families, suite, key)
        if (Math.abs(own[key] - other) > 1e-9)
          found.push(`${suite}: ${key} at ${threshold} is ${own[key]}, and ${other} by the other scorer.`)
      }
    }
  }
  return found
}

async function importOf(path: string): Promise<unknown> {
  return import(pathToFileURL(path).href)
}
