import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { PassThrough, Readable } from 'node:stream'
import t from 'tap'
import type { Test } from 'tap'
import { replaySeries } from '../../../checks/detector.ts'
import type { DetectorOptions } from '../../../checks/detector.ts'
import { domainOfSeries } from '../../../checks/series-domains.ts'
import { answerRequest } from '../../../plugins/metrics/detect/detect-requests.ts'
import { runCommand } from '../../../server/cli/cli.ts'
import { detectAnomalies, type DetectOptions } from '../../../plugins/metrics/detect/detect-command.ts'

const main = new URL('../../../server/main.ts', import.meta.url).pathname
const DAY = 86_400
/** Monday, 2024-05-06, 00:00 UTC. */
const MONDAY = 1_714_953_600

interface JudgedPoint {
  timestamp: unknown
  value: number
  expected: number | null
  low: number | null
  high: number | null
  z_score: number
  is_anomaly: boolean
  learning: boolean
}

/** The real command. Its settings are wrong and its database is away: it has to do without. */
function start(t: Test, ...words: string[]) {
  const child = spawn(process.execPath, [main, 'detect', ...words], {
    env: { PATH: process.env.PATH, PORT: 'abc', DATABASE_URL: 'postgres://127.0.0.1:1/none' },
  })
  t.teardown(() => child.kill('SIGKILL'))
  child.stdin.on('error', () => {})
  return child
}

/** What the command makes of a whole input. */
async function run(t: Test, words: string[], input: string) {
  const child = start(t, ...words)
  const text = { out: '', err: '' }
  child.stdout.on('data', chunk => (text.out += String(chunk)))
  child.stderr.on('data', chunk => (text.err += String(chunk)))
  child.stdin.end(input)
  const [code] = (await once(child, 'close')) as [number]
  const lines = text.out.split('\n').slice(0, -1)
  return { code, err: text.err, lines, judged: lines.map(line => JSON.parse(line) as JudgedPoint) }
}

const usual: DetectOptions = { interval: 'daily', sensitivity: 3, warmup: 0 }

/** What the command makes of an input, in this process: the answers, and the error that ended them. */
async function judgeHere(options: Partial<DetectOptions>, input: string) {
  const output = new PassThrough({ encoding: 'utf8' })
  const streams = { input: Readable.from([Buffer.from(input)]), output, notes: new PassThrough() }
  const error = await detectAnomalies(streams, { ...usual, ...options }, new AbortController().signal).catch(
    (error: Error) => error,
  )
  const lines = String(output.read() ?? '')
    .split('\n')
    .slice(0, -1)
  return { message: error?.message, judged: lines.map(line => JSON.parse(line) as JudgedPoint) }
}

const asLines = (points: readonly object[]) => points.map(point => `${JSON.stringify(point)}\n`).join('')

/** Values that move a little; day 40 is five times too much. */
const values = Array.from({ length: 45 }, (_, i) => (i === 40 ? 5000 : 1000 + ((i * 37) % 21)))
const days = values.map((value, i) => ({ timestamp: MONDAY + i * DAY, value }))
const metric = (more: Partial<DetectorOptions> = {}): DetectorOptions => ({
  series: 'mean',
  domain: domainOfSeries(more.series ?? 'mean'),
  interval: 'daily',
  direction: 'both',
  sensitivity: 3,
  ...more,
})
/** What the detector itself says of the values. */
const expected = (options: DetectorOptions, total: number | null = null, of = values) =>
  replaySeries(
    of.map((value, i) => ({ at: MONDAY + i * DAY, value, total })),
    options,
  ).map(({ expected, low, high, zScore, isAnomaly, learning }, i) => ({
    timestamp: MONDAY + i * DAY,
    value: of[i],
    expected,
    low,
    high,
    z_score: zScore,
    is_anomaly: isAnomaly,
    learning,
  }))

t.test('each point is judged as the detector judges it, by those before it', async t => {
  const { code, judged, err } = await run(t, [], asLines(days))
  t.equal(code, 0)
  t.strictSame(judged, expected(metric()))
  t.strictSame(
    judged.flatMap(({ is_anomaly: isAnomaly }, i) => (isAnomaly ? [i] : [])),
    [40],
  )
  t.equal(err, '', 'only the answers are printed without a terminal')
})

t.test('the options are those of a metric and of a rule', async t => {
  const counts = await run(
    t,
    ['--metric', 'row_count', '--interval', 'weekly', '--sensitivity', '1.5', '--json'],
    asLines(days),
  )
  t.strictSame(counts.judged, expected(metric({ series: 'row_count', interval: 'weekly', sensitivity: 1.5 })))
  const high = await judgeHere({ oneSided: true }, asLines(days))
  t.strictSame(high.judged, expected(metric({ direction: 'high' })))

  const percents = values.map(value => value / 100)
  const counted = asLines(days.map(({ timestamp }, i) => ({ timestamp, value: percents[i], total: 500 })))
  const rule = await run(t, ['--one-sided'], counted)
  t.strictSame(
    rule.judged,
    expected(metric({ series: 'invalid_percent', direction: 'high' }), 500, percents),
    'a percentage with its rows, one-sided, is that of a rule',
  )
  const nulls = await judgeHere({}, counted)
  t.strictSame(nulls.judged, expected(metric({ series: 'null_percent' }), 500, percents))
})

t.test('the points of a warm-up are learned, and have no verdict', async t => {
  const { judged } = await run(t, ['--warmup', '30'], asLines(days))
  const unwarmed = expected(metric())
  const none = { expected: null, low: null, high: null, z_score: 0, is_anomaly: false, learning: true }
  t.strictSame(
    judged.slice(0, 30),
    days.slice(0, 30).map(day => ({ ...day, ...none })),
  )
  t.strictSame(judged.slice(30), unwarmed.slice(30))
})

t.test('timestamps are ISO 8601 or epoch, UTC without a zone, and come back as they were given', async t => {
  const first = '2024-05-06'
  const forms: unknown[] = [
    first,
    MONDAY,
    MONDAY * 1000,
    '2024-05-06T00:00:00',
    '2024-05-06 02:00:00+02',
    '2024-05-05T22:30:00.5-02:00',
    '2024-05-06T00:30:00.5Z',
  ]
  const lines = asLines(forms.map(timestamp => ({ timestamp, value: 1, more: 'is not regarded' })))
  const { judged, message } = await judgeHere({}, lines)
  t.equal(message, undefined)
  t.strictSame(
    judged.map(({ timestamp }) => timestamp),
    forms,
  )
  const wrong = asLines([forms[5], forms[3]].map(timestamp => ({ timestamp, value: 1 })))
  t.match((await judgeHere({}, wrong)).message, /Line 2: .* is before/, 'the zone counts')
})

t.test('a wrong line is named, with what is wrong and what to write; what was printed stays', async t => {
  const good = { timestamp: '2024-05-06', value: 1 }
  const counted = { ...good, total: 10 }
  const cases: [line: string, message: RegExp, options?: Partial<DetectOptions>, first?: object][] = [
    ['2024-05-07,12', /^Line 3 is not JSON: .*Write each point as \{"timestamp"/],
    ['[1, 2]', /^Line 3: it is not a JSON object/],
    ['{"value": 1}', /^Line 3: "timestamp" is required/],
    ['{"timestamp": "2024-02-30", "value": 1}', /^Line 3: "timestamp" "2024-02-30" is not a time. Give ISO/],
    ['{"timestamp": "10:00", "value": 1}', /is not a time/],
    ['{"timestamp": 1e300, "value": 1}', /is not a time/],
    ['{"timestamp": true, "value": 1}', /is not a time/],
    ['{"timestamp": "2024-05-07"}', /^Line 3: "value" is required/],
    ['{"timestamp": "2024-05-07", "value": null}', /"value" must be a number/],
    ['{"timestamp": "2024-05-07", "value": "1"}', /"value" must be a number/],
    ['{"timestamp": "2024-05-07", "value": 1e999}', /"value" cannot be infinity/],
    ['{"timestamp": "2024-05-05", "value": 1}', /^Line 3: its timestamp "2024-05-05" is before .*Sort/],
    ['{"timestamp": "2024-05-07", "value": -1}', /never below 0/, { metric: 'row_count' }],
    ['{"timestamp": "2024-05-07", "value": 101}', /Give 0 to 100\.$/m, { metric: 'null_percent' }],
    ['{"timestamp": "2024-05-07", "value": 1, "total": 5}', /"total", which the first line had not/],
    ['{"timestamp": "2024-05-07", "value": 101, "total": 5}', /or leave out "total"/, {}, counted],
    ['{"timestamp": "2024-05-07", "value": 1, "total": -5}', /"total" must be greater/, {}, counted],
    ['{"timestamp": "2024-05-07", "value": 1, "total": 5}', /leave out --metric mean/, { metric: 'mean' }],
  ]
  for (const [line, problem, options = {}, first = good] of cases) {
    const { message, judged } = await judgeHere(options, `${JSON.stringify(first)}\n\n${line}\n`)
    t.match(message, problem, line)
    t.match(judged, [{ timestamp: '2024-05-06', value: 1, learning: true }], 'the line before was answered')
  }
  const { code, err, judged } = await run(t, [], `${JSON.stringify(good)}\n\nnonsense\n`)
  t.equal(code, 2)
  t.match(err, /^Line 3 is not JSON: .*\n$/)
  t.notMatch(err, /^ +at /m, 'without a stack')
  t.match(judged, [good])
})

t.test('wrong usage says what is right', async t => {
  for (const [words, message] of [
    [['--sensitivity', 'high'], /from 0\.1 to 10/],
    [['--sensitivity', ''], /from 0\.1 to 10/],
    [['--warmup', '-1'], /whole number/],
    [['--interval', 'yearly'], /hourly, daily, weekly/],
    [['--metric', 'total'], /row_count.*percentile/],
    [['--requests', '--one-sided'], /--requests' cannot be used with option '--one-sided/],
    [['points.jsonl'], /too many arguments/],
  ] as const) {
    let err = ''
    const terminal = { out: () => {}, err: (line: string) => (err += line), signal: AbortSignal.abort() }
    t.equal(await runCommand(['detect', ...words], terminal), 2, words.join(' '))
    t.match(err, message)
  }
})

t.test(
  'lines may end as on Windows, without a break, and begin with a mark; nothing is no error',
  async t => {
    const marked = `\uFEFF{"timestamp": 1, "value": 1}\r\n   \r\n{"timestamp": 2, "value": 2}`
    t.match(await run(t, [], marked), { code: 0, judged: [{ timestamp: 1 }, { timestamp: 2 }] })
    t.match(await run(t, [], ''), { code: 0, lines: [], err: '' })
  },
)

t.test('each line is answered before the next one comes', async t => {
  for (const words of [[], ['--requests']]) {
    const child = start(t, ...words)
    const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    for (const i of [1, 2, 3]) {
      // Halves of a letter of two bytes come apart.
      const line = Buffer.from(`{"id": "é${i}", "timestamp": ${i}, "value": 1}\n`)
      const half = line.indexOf(0xc3) + 1
      child.stdin.write(line.subarray(0, half))
      child.stdin.write(line.subarray(half))
      const { value } = await answers.next()
      t.match(JSON.parse(String(value)), words.length > 0 ? { id: `é${i}` } : { timestamp: i })
    }
    child.stdin.end()
    const [code] = (await once(child, 'close')) as [number]
    t.equal(code, 0)
  }
})

t.test('a reader who leaves ends it quietly', async t => {
  const child = start(t)
  let err = ''
  child.stderr.on('data', chunk => (err += String(chunk)))
  const closed = once(child, 'close')
  const feed = setInterval(() => child.stdin.write(asLines([{ timestamp: 1, value: 1 }])), 5)
  t.teardown(() => clearInterval(feed))
  await once(child.stdout, 'data')
  child.stdout.destroy()
  t.equal((await closed)[0], 0)
  t.equal(err, '')
})

t.test('a slow reader is waited for: what has not been taken is not read', async t => {
  let asked = 0
  async function* endless() {
    for (;;) yield `{"timestamp": ${++asked}, "value": ${asked % 7}}\n`
  }
  const stop = new AbortController()
  const output = new PassThrough({ highWaterMark: 1024 })
  const notes = new PassThrough()
  const input = Readable.from(endless(), { highWaterMark: 1 })
  const done = detectAnomalies({ input, output, notes }, usual, stop.signal)
  while (output.readableLength < 1024) await new Promise(resolve => setImmediate(resolve))
  const soFar = asked
  for (let i = 0; i < 50; i++) await new Promise(resolve => setImmediate(resolve))
  t.ok(asked <= soFar + 20, `${asked} lines were read, ${soFar} fill the reader`)
  stop.abort()
  output.resume()
  await done
  t.pass('and the end, when asked for, is no error')
})

t.test('at a terminal it says what it waits for, and counts at the end', async t => {
  const input = Object.assign(new PassThrough(), { isTTY: true })
  const notes = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true })
  input.end(asLines(days))
  const options = { interval: 'daily', sensitivity: 3, warmup: 0 } as const
  await detectAnomalies(
    { input, output: new PassThrough().resume(), notes },
    options,
    new AbortController().signal,
  )
  const said = String(notes.read())
  t.match(said, /Reading points such as \{"timestamp".*Ctrl-D ends them\.\n/)
  t.match(said, /^45 points, 1 anomaly at sensitivity 3$/m)
})

t.test('requests of the benchmark protocol are answered in order, wrong ones with what is wrong', async t => {
  const rows = days.map(({ timestamp, value }) => [timestamp, value, null])
  const head = { kind: 'metric', metric_type: 'mean', interval: 'daily', direction: 'both', sensitivity: 3 }
  const requests = [
    { id: 'series', ...head, mode: 'series', points: rows, indexes: [0, 40, 44] },
    { id: 'point', ...head, history: rows.slice(0, 40), point: rows[40] },
    { id: 'wrong', ...head, kind: 'nonsense' },
  ]
  const { code, lines } = await run(t, ['--requests'], `${asLines(requests)}not JSON\n\n`)
  t.equal(code, 0)
  t.strictSame(
    lines.slice(0, 3).map(line => JSON.parse(line) as unknown),
    requests.map(request => JSON.parse(JSON.stringify(answerRequest(request))) as unknown),
  )
  t.match(JSON.parse(lines[1]!), { id: 'point', is_anomaly: true })
  t.match(JSON.parse(lines[2]!), { id: 'wrong', error: /"kind" must be one of/ })
  t.match(JSON.parse(lines[3]!), { id: null, error: /one line of JSON/ })
})
