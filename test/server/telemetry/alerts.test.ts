/** The alert rules that the page recommends, evaluated by Prometheus' own tool over numbers of a real service. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { testCluster } from '../../helpers/cluster.ts'
import { findProgram } from '../../helpers/machine.ts'
import { startServer } from '../../helpers/server.ts'
import { blocksOf } from '../../plugins/public/docs-blocks.ts'

const run = promisify(execFile)

/** Why the rules cannot be evaluated, and what to do; false when they can. */
const promtoolAbsent: string | false = findProgram('promtool')
  ? false
  : 'promtool is not installed: apt-get install --no-install-recommends prometheus'

interface Rules {
  groups: { rules: { alert: string; expr: string }[] }[]
}

const text = blocksOf('observability').find(({ text: block }) => block.includes('- alert:'))?.text ?? ''
const rules = (parse(text) as Rules).groups.flatMap(group => group.rules)
const folder = t.testdir({ 'rules.yml': text })

/** A series, and its values minute by minute in the notation of promtool. */
type Series = Record<string, string>

/** Whether an alert fires at a minute, by its name; its labels where it has some. */
type Expected = Record<string, boolean | Record<string, string>>

/** Fails with what the tool says where an alert fires otherwise. All alerts that are not named have to be silent. */
async function evaluate(series: Series, minute: number, expected: Expected): Promise<void> {
  const test = {
    rule_files: ['rules.yml'],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        alert_rule_test: rules.map(({ alert }) => {
          const fires = expected[alert] ?? false
          return {
            eval_time: `${minute}m`,
            alertname: alert,
            exp_alerts: fires === false ? [] : [{ exp_labels: fires === true ? {} : fires }],
          }
        }),
      },
    ],
  }
  writeFileSync(join(folder, 'test.yml'), stringify(test))
  await run('promtool', ['test', 'rules', 'test.yml'], { cwd: folder }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${error.stdout}${error.stderr}`)
    },
  )
}

/** A service that does well: each minute its schedules run, and a message and some requests succeed. */
const WELL: Series = {
  'tidemark_build_info{role="all"}': '1x60',
  tidemark_database_up: '1x60',
  'tidemark_workers{queue="scans.run",state="idle"}': '8x60',
  'tidemark_last_dispatch_timestamp_seconds{queue="scans.dispatch"}': '0+60x60',
  'tidemark_last_dispatch_timestamp_seconds{queue="scans.prune"}': '0x60',
  'tidemark_oldest_active_job_seconds{queue="scans.run"}': '0 20 40 0 0 0x60',
  'tidemark_queue_lag_seconds{queue="scans.run"}': '2x60',
  'tidemark_dead_letters{queue="scans.run"}': '0x60',
  'tidemark_http_requests_total{status="2xx"}': '0+100x60',
  'tidemark_http_requests_total{status="5xx"}': '0x60',
  'tidemark_delivery_attempts_total{result="delivered"}': '0+3x60',
  'tidemark_pool_waiting{pool="jobs"}': '0x60',
}
const without = (...names: string[]): Series =>
  Object.fromEntries(Object.entries(WELL).filter(([name]) => !names.some(start => name.startsWith(start))))
const ofScans = { queue: 'scans.run' }

t.test('each alert has a rule that Prometheus takes', { skip: promtoolAbsent }, async t => {
  t.match(
    (await run('promtool', ['check', 'rules', 'rules.yml'], { cwd: folder })).stdout,
    `${rules.length} rules`,
  )
  await evaluate(WELL, 50, {})
})

/** What goes wrong, the alert that says so, and its labels. */
const FAULTS: [
  fault: string,
  alert: string,
  labels: true | Record<string, string>,
  series: Series,
  also?: Expected,
][] = [
  ['the database is away', 'DatabaseIsDown', true, { ...WELL, tidemark_database_up: '1x10 0x50' }],
  [
    'one of two processes has lost it',
    'DatabaseIsDown',
    true,
    {
      ...WELL,
      'tidemark_database_up{instance="a"}': '1x10 0x50',
    },
  ],
  [
    'only web processes are left',
    'NoWorkers',
    true,
    without('tidemark_workers', 'tidemark_oldest', 'tidemark_last'),
  ],
  [
    'a schedule no longer runs',
    'ScheduleStands',
    { queue: 'scans.dispatch' },
    {
      ...WELL,
      'tidemark_last_dispatch_timestamp_seconds{queue="scans.dispatch"}': '0+60x10 600x50',
    },
  ],
  [
    'a job hangs',
    'JobHangs',
    ofScans,
    {
      ...WELL,
      'tidemark_oldest_active_job_seconds{queue="scans.run"}': '3000+60x60',
    },
  ],
  ['jobs wait', 'JobsWait', ofScans, { ...WELL, 'tidemark_queue_lag_seconds{queue="scans.run"}': '0+60x60' }],
  ['a job died', 'JobsDied', ofScans, { ...WELL, 'tidemark_dead_letters{queue="scans.run"}': '0x10 1x50' }],
  [
    'requests fail',
    'RequestsFail',
    true,
    { ...WELL, 'tidemark_http_requests_total{status="5xx"}': '0+2x60' },
  ],
  [
    'messages fail',
    'DeliveriesFail',
    true,
    {
      ...WELL,
      'tidemark_delivery_attempts_total{result="timeout"}': '0+9x60',
    },
  ],
  [
    'a pool is full',
    'PoolIsFull',
    { pool: 'jobs' },
    { ...WELL, 'tidemark_pool_waiting{pool="jobs"}': '0x10 3x50' },
  ],
  ['no process is left', 'NothingAnswers', true, {}, { NoWorkers: true }],
]

for (const [fault, alert, labels, series, also] of FAULTS)
  t.test(`where ${fault}, only ${alert} fires`, { skip: promtoolAbsent }, () =>
    evaluate(series, 50, { ...also, [alert]: labels }),
  )

t.test('each alert is shown to fire', async t => {
  t.strictSame(
    FAULTS.map(([, alert]) => alert)
      .filter((alert, at, all) => all.indexOf(alert) === at)
      .sort(),
    rules.map(({ alert }) => alert).sort(),
  )
})

t.test(
  'in a real outage of the database the numbers of the process stay, and DatabaseIsDown fires',
  async t => {
    const { server, query } = await startServer(t, { isOwn: true })
    const scrape = async () => (await server.telemetry.expose()).text
    const before = await scrape()
    for (const { alert, expr } of rules)
      for (const [name] of expr.matchAll(/tidemark_\w+/g))
        t.ok(before.includes(`# TYPE ${name} `), `${alert}: ${name} is served`)

    const [{ name } = {}] = await query('select current_database() as name')
    const admin = new pg.Client({ ...(await testCluster()), database: 'postgres' })
    await admin.connect()
    t.teardown(() => admin.end())
    const allow = (isAllowed: boolean) =>
      admin.query(`alter database ${String(name)} allow_connections ${isAllowed}`)
    await allow(false)
    let during: string
    try {
      await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
      // What was read a moment ago is good for some seconds.
      while (!(during = await scrape()).includes('tidemark_database_up 0')) await wait(100)
    } finally {
      await allow(true)
    }
    t.match(during, /^tidemark_workers\{queue="scans.run",state="idle"\} \d/m)
    t.match(during, /^tidemark_oldest_active_job_seconds\{queue="scans.run"\} /m)
    t.match(during, /^tidemark_last_dispatch_timestamp_seconds\{queue="scans.dispatch"\} \d{10}/m)
    t.notMatch(during, /^tidemark_queue_lag_seconds\{/m, 'nothing old is shown as if it were new')
    while (!(await scrape()).includes('tidemark_database_up 1')) await wait(100)

    await t.test('the alert fires on what was scraped', { skip: promtoolAbsent }, async () => {
      // Times of the epoch are none of promtool, whose clock begins at 0. One that waits for a connection now does not in
      // five minutes.
      const samples = (scraped: string) =>
        new Map(
          scraped
            .split('\n')
            .filter(line => /^tidemark_(?!last_dispatch|pool_waiting)/.test(line))
            .map(line => [line.slice(0, line.lastIndexOf(' ')), line.slice(line.lastIndexOf(' ') + 1)]),
        )
      const [well, ill] = [samples(before), samples(during)]
      const series = Object.fromEntries(
        [...well.keys()].map(key => [
          key,
          `${well.get(key)}x9 ${ill.has(key) ? `${ill.get(key)}x20` : 'stale'}`,
        ]),
      )
      await evaluate(series, 9, {})
      await evaluate(series, 20, { DatabaseIsDown: true })
    })
  },
)
