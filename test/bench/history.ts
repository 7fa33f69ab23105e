/**
 * How long lists take over two years of history, of ten million snapshots, 100,000 rules and as much else as goes with
 * them, beside the same page and count by one statement over a connection that is open:
 * `node test/bench/history.ts [snapshots] [rounds] [--json]`.
 *
 * Each kind of request is sent over HTTP to a server in a process of its own, in rounds that go through all kinds;
 * medians are printed. Then each is sent once more to a server whose every statement PostgreSQL explains: what is printed are
 * the pages of 8 kB that were read, in memory or not. A request that reads more than a few hundred pages, or any big
 * table from its beginning to its end, ends it with 1, however fast it was.
 */
import pg from 'pg'
import { testCluster } from '../helpers/cluster.ts'
import { startProcess } from '../helpers/server-process.ts'
import { startServer, type Tenant, type TestServer } from '../helpers/server.ts'
import { explainStatements, type PageReads } from './history-plans.ts'
import { fillHistory, sizesOf, type Sizes } from './history-world.ts'
import { median, quantile, printRows, withTeardown, positionalWords, type Teardown } from './rows.ts'

const sizes = sizesOf(Number(positionalWords[0] ?? 10_000_000))
const rounds = Number(positionalWords[1] ?? 60)
const LIMIT = 50
/** Pages that one request may read: a page of rows, its exact count (of 100,000 rules an index of 1,000), and who is asking. */
const MAX_PAGES = 2_000
/** Milliseconds between requests, as a key may ask 100 times a second. */
const PAUSE = 12

/** A request, and the statement that gives the same page and count straight from the database. */
interface Kind {
  name: string
  path: string
  hand: string
}

interface Measured extends Kind {
  ms: number
  p95: number
  handMs: number
  read: PageReads
}

process.exitCode = await withTeardown(main)

async function main(t: Teardown): Promise<number> {
  const cluster = await testCluster()
  process.env.TEST_CLUSTER = JSON.stringify(cluster)
  const app = await startServer(t, { settings: { ROLE: 'web' } })
  const tenant = await app.signUp('Measured')
  const startedAt = performance.now()
  await fillHistory(app, tenant, sizes)
  console.log(`filled in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s; ${await sizeOf(app)}`)
  const [found] = await app.query('select current_database() as name')
  const database = String(found?.name)
  const hand = new pg.Client({ ...cluster, database, options: '-c random_page_cost=1.1' })
  await hand.connect()
  t.teardown(() => hand.end())
  const kinds = await kindsOf(app, tenant, sizes)
  const times = await measure(await startProcess(t, app), tenant, kinds, hand)
  const reads = await explainStatements(app, database, async take => {
    const base = await startProcess(t, app)
    const all: PageReads[] = []
    for (const { path } of kinds) {
      // Not the first one, which asks what later ones know.
      await ask(base + path, tenant)
      await take()
      await ask(base + path, tenant)
      all.push(await take())
    }
    return all
  })
  return report(kinds.map((kind, at) => ({ ...kind, ...times[at]!, read: reads[at]! })))
}

async function sizeOf(app: TestServer): Promise<string> {
  const [row] = await app.query('select pg_size_pretty(pg_database_size(current_database())) as size')
  return `${String(row?.size)} on disk`
}

async function kindsOf(app: TestServer, { companyId }: Tenant, { rules }: Sizes): Promise<Kind[]> {
  const one = async (text: string) => (await app.query(text, [companyId]))[0] as Record<string, string>
  const rule = await one('select * from validity_rules where company_id = $1 order by id limit 1')
  const metric = await one('select * from metrics where company_id = $1 order by internal_id limit 1')
  const schedule = await one('select * from freshness_schedules where company_id = $1 order by id limit 1')
  const change = await one('select * from schema_changes where company_id = $1 limit 1')
  const destination = await one('select * from destinations where company_id = $1')
  const delivery = await one('select * from deliveries where company_id = $1 order by id limit 1')
  const page = (table: string, where: string, order: string, offset = 0) =>
    `select *, (select count(*) from ${table} where company_id = '${companyId}' and ${where}) as total
     from ${table} where company_id = '${companyId}' and ${where} order by ${order} desc, id desc limit ${LIMIT} offset ${offset}`
  const ofMetric = `metric_id = ${metric.internal_id}`
  const ofRule = `validity_rule_id = ${rule.id}`
  const deep = Math.floor(rules / 3 / 2)
  const rulesPath = `/api/v1/sdk/validity/${rule.source_id}?limit=${LIMIT}`
  return [
    {
      name: 'snapshots of a metric',
      path: `/api/v1/sdk/metrics/${metric.table_id}/${metric.internal_id}/snapshots?limit=${LIMIT}`,
      hand: page('metric_snapshots', ofMetric, 'captured_at'),
    },
    {
      name: 'a metric with its last snapshots',
      path: `/api/v1/sdk/metrics/${metric.table_id}/${metric.internal_id}`,
      hand: page('metric_snapshots', ofMetric, 'captured_at'),
    },
    {
      name: 'results of a rule',
      path: `/api/v1/sdk/validity/${rule.table_id}/${rule.id}/results?limit=${LIMIT}`,
      hand: page('validity_results', ofRule, 'checked_at'),
    },
    {
      name: 'rules of a source',
      path: rulesPath,
      hand: page('validity_rules', `source_id = '${rule.source_id}'`, 'created_at'),
    },
    {
      name: 'rules of a source, deep',
      path: `${rulesPath}&offset=${deep}`,
      hand: page('validity_rules', `source_id = '${rule.source_id}'`, 'created_at', deep),
    },
    {
      name: 'history of freshness',
      path: `/api/v1/sdk/freshness/${schedule.table_id}/history?limit=${LIMIT}`,
      hand: page('freshness_checks', `schedule_id = '${schedule.id}'`, 'checked_at'),
    },
    {
      name: 'changes of a source',
      path: `/api/v1/assets/${change.source_id}/schema-changes?limit=${LIMIT}`,
      hand: page('schema_changes', `source_id = '${change.source_id}'`, 'detected_at'),
    },
    {
      name: 'alerts',
      path: `/api/v1/sdk/alerts?limit=${LIMIT}`,
      hand: page('alerts', 'true', 'created_at'),
    },
    {
      name: 'deliveries of a destination',
      path: `/api/v1/sdk/alerts/destinations/${destination.id}/deliveries?limit=${LIMIT}`,
      hand: page('deliveries', `destination_id = '${destination.id}'`, 'created_at'),
    },
    {
      name: 'deliveries of an alert',
      path: `/api/v1/sdk/alerts/${delivery.alert_id}/deliveries?limit=${LIMIT}`,
      hand: page('deliveries', `alert_id = '${delivery.alert_id}'`, 'created_at'),
    },
  ]
}

async function ask(url: string, { key }: Tenant): Promise<number> {
  await new Promise(resolve => setTimeout(resolve, PAUSE))
  const startedAt = performance.now()
  const reply = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
  const body = await reply.text()
  const ms = performance.now() - startedAt
  if (reply.status !== 200) throw new Error(`${url} gave ${reply.status}: ${body}`)
  return ms
}

/** Sends all kinds in rounds, by turns with the statements by hand; the first round warms up. */
async function measure(
  base: string,
  tenant: Tenant,
  kinds: readonly Kind[],
  hand: pg.Client,
): Promise<Pick<Measured, 'ms' | 'p95' | 'handMs'>[]> {
  const times = kinds.map(() => ({ ours: [] as number[], hand: [] as number[] }))
  for (let round = 0; round <= rounds; round += 1) {
    for (const [at, kind] of kinds.entries()) {
      const ms = await ask(base + kind.path, tenant)
      const startedAt = performance.now()
      await hand.query(kind.hand)
      const handMs = performance.now() - startedAt
      if (round === 0) continue
      times[at]!.ours.push(ms)
      times[at]!.hand.push(handMs)
    }
  }
  return times.map(({ ours, hand: by }) => ({
    ms: median(ours),
    p95: quantile(ours, 0.95),
    handMs: median(by),
  }))
}

function report(all: readonly Measured[]): number {
  console.log(
    `\n${sizes.snapshots.toLocaleString('en')} snapshots, ${sizes.rules.toLocaleString('en')} rules`,
  )
  console.table(
    Object.fromEntries(
      all.map(({ name, ms, p95, handMs, read }) => [
        name,
        {
          'p50 ms': Number(ms.toFixed(1)),
          'p95 ms': Number(p95.toFixed(1)),
          'by hand': Number(handMs.toFixed(1)),
          statements: read.statements,
          pages: read.pages,
          'read whole': read.whole.join(', '),
        },
      ]),
    ),
  )
  printRows([
    ...all.map(({ name, ms, handMs }) => ({ what: `list: ${name}`, ours: ms, hand: handMs, unit: 'ms' })),
    {
      what: 'list: pages read, the most of these',
      ours: Math.max(...all.map(({ read }) => read.pages)),
      unit: 'pages',
      bar: { most: MAX_PAGES },
    },
  ])
  const broken = all.flatMap(({ name, read: { pages, whole } }) => [
    ...(pages > MAX_PAGES ? [`${name}: ${pages} pages were read`] : []),
    ...(whole.length > 0 ? [`${name}: read from beginning to end were ${whole.join(', ')}`] : []),
  ])
  for (const sentence of broken) console.error(sentence)
  return broken.length === 0 ? 0 : 1
}
