/**
 * How long lists take over two years of history, of ten million snapshots, 100,000 rules and as much else as goes with
 * them, beside the same page and count by hand over a connection that is open:
 * `node test/bench/history.ts [snapshots] [rounds] [--json]`.
 *
 * Each kind of request is sent over HTTP to a server in a process of its own, in rounds that go through all kinds;
 * medians are printed. By hand, the page and its count are one statement or two, with the settings of the engine as they
 * are or those of a database in memory: the fastest of these counts. Then each is sent once more to a server whose every statement PostgreSQL explains: what is printed are
 * the pages of 8 kB that were read, in memory or not. A request that reads more than a few hundred pages, or any big
 * table from its beginning to its end, ends it with 1, however fast it was.
 */
import pg from 'pg'
import { testCluster } from '../helpers/cluster.ts'
import { startProcess } from '../helpers/server-process.ts'
import { startServer, type Tenant, type TestServer } from '../helpers/server.ts'
import { explainStatements, type PageReads } from './history-plans.ts'
import { fillHistory, sizesOf, type Sizes } from './history-world.ts'
import {
  compareRounds,
  median,
  quantile,
  printRows,
  withTeardown,
  positionalWords,
  type Teardown,
} from './rows.ts'

const sizes = sizesOf(Number(positionalWords[0] ?? 10_000_000))
const rounds = Number(positionalWords[1] ?? 60)
const LIMIT = 50
/** Pages that one request may read: a page of rows, its exact count (of 100,000 rules an index of 1,000), and who is asking. */
const MAX_PAGES = 2_000
/** Settings of the sessions by hand: those of the engine, and those of a database that lies in memory. */
const HAND_OPTIONS = ['', '-c random_page_cost=1.1 -c max_parallel_workers_per_gather=0 -c jit=off']
/** Milliseconds between requests, as a key may ask 100 times a second. */
const PAUSE = 12

/** A request, and the statements that give the same page and count straight from the database. */
interface Kind {
  name: string
  path: string
  hand: { rows: string; count: string }
}

/** A median of ours, and of the way by hand that is the fastest. */
type Compared = ReturnType<typeof compareRounds> & { p95: number }

type Measured = Omit<Kind, 'hand'> & Compared & { read: PageReads }

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
  const hands: pg.Client[] = []
  for (const options of HAND_OPTIONS) {
    const hand = new pg.Client({ ...cluster, database, options })
    await hand.connect()
    t.teardown(() => hand.end())
    hands.push(hand)
  }
  const kinds = await kindsOf(app, tenant, sizes)
  const times = await measure(await startProcess(t, app), tenant, kinds, hands)
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
  const rule = await one(
    `select * from checks where company_id = $1 and kind = 'validity' order by id limit 1`,
  )
  const metric = await one(
    `select * from checks where company_id = $1 and kind = 'metric' order by id limit 1`,
  )
  const schedule = await one(
    `select * from checks where company_id = $1 and kind = 'freshness' order by id limit 1`,
  )
  const change = await one('select * from schema_changes where company_id = $1 limit 1')
  const destination = await one('select * from destinations where company_id = $1')
  const delivery = await one('select * from deliveries where company_id = $1 order by id limit 1')
  const page = (table: string, where: string, order: string, offset = 0): Kind['hand'] => {
    const from = `from ${table} where company_id = '${companyId}' and ${where}`
    return {
      rows: `select * ${from} order by ${order} desc, id desc limit ${LIMIT} offset ${offset}`,
      count: `select count(*) ${from}`,
    }
  }
  const ofMetric = `check_id = ${metric.id}`
  const ofRule = `check_id = ${rule.id}`
  const deep = Math.floor(rules / 3 / 2)
  const rulesPath = `/api/v1/sdk/validity/${rule.source_id}?limit=${LIMIT}`
  return [
    {
      name: 'snapshots of a metric',
      path: `/api/v1/sdk/metrics/${metric.table_id}/${metric.id}/snapshots?limit=${LIMIT}`,
      hand: page('check_results', ofMetric, 'at'),
    },
    {
      name: 'a metric with its last snapshots',
      path: `/api/v1/sdk/metrics/${metric.table_id}/${metric.id}`,
      hand: page('check_results', ofMetric, 'at'),
    },
    {
      name: 'results of a rule',
      path: `/api/v1/sdk/validity/${rule.table_id}/${rule.id}/results?limit=${LIMIT}`,
      hand: page('check_results', ofRule, 'at'),
    },
    {
      name: 'rules of a source',
      path: rulesPath,
      hand: page('checks', `kind = 'validity' and source_id = '${rule.source_id}'`, 'created_at'),
    },
    {
      name: 'rules of a source, deep',
      path: `${rulesPath}&offset=${deep}`,
      hand: page('checks', `kind = 'validity' and source_id = '${rule.source_id}'`, 'created_at', deep),
    },
    {
      name: 'history of freshness',
      path: `/api/v1/sdk/freshness/${schedule.table_id}/history?limit=${LIMIT}`,
      hand: page('check_results', `check_id = ${schedule.id}`, 'at'),
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

/** Sends all kinds in rounds, by turns with the ways by hand; the first round warms up. */
async function measure(
  base: string,
  tenant: Tenant,
  kinds: readonly Kind[],
  hands: readonly pg.Client[],
): Promise<Compared[]> {
  const times = kinds.map(() => ({ ours: [] as number[], ways: hands.flatMap(() => [[], []] as number[][]) }))
  for (let round = 0; round <= rounds; round += 1) {
    for (const [at, kind] of kinds.entries()) {
      const askUs = () => ask(base + kind.path, tenant)
      const askHands = () => timeByHand(kind, hands)
      const isHandFirst = round % 2 === 1
      const before = isHandFirst ? await askHands() : []
      const ms = await askUs()
      const ways = isHandFirst ? before : await askHands()
      if (round === 0) continue
      times[at]!.ours.push(ms)
      for (const [way, handMs] of ways.entries()) times[at]!.ways[way]!.push(handMs)
    }
  }
  return times.map(({ ours, ways }) => ({
    ...compareRounds(ours, fastestOf(ways)),
    p95: quantile(ours, 0.95),
  }))
}

/** Milliseconds of each way by hand: for every session the page and its count in one statement, then in two. */
async function timeByHand({ hand }: Kind, hands: readonly pg.Client[]): Promise<number[]> {
  const { rows, count } = hand
  const times: number[] = []
  for (const client of hands) {
    for (const texts of [[`select page.*, (${count}) as total from (${rows}) page`], [rows, count]]) {
      const startedAt = performance.now()
      for (const text of texts) await client.query(text)
      times.push(performance.now() - startedAt)
    }
  }
  return times
}

function fastestOf(ways: readonly number[][]): number[] {
  return ways.toSorted((one, other) => median(one) - median(other))[0] ?? []
}

function report(all: readonly Measured[]): number {
  console.log(
    `\n${sizes.snapshots.toLocaleString('en')} snapshots, ${sizes.rules.toLocaleString('en')} rules`,
  )
  console.table(
    Object.fromEntries(
      all.map(({ name, ours, p95, hand, ratio, read }) => [
        name,
        {
          'p50 ms': Number(ours.toFixed(1)),
          'p95 ms': Number(p95.toFixed(1)),
          'by hand': Number(hand.toFixed(1)),
          ratio: Number(ratio.toFixed(2)),
          statements: read.statements,
          pages: read.pages,
          'read whole': read.whole.join(', '),
        },
      ]),
    ),
  )
  printRows([
    ...all.map(({ name, ours, hand, ratio, spread }) => ({
      ...{ what: `list: ${name}`, ours, hand, ratio, spread, unit: 'ms' },
    })),
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
