/**
 * How soon the web console shows what, with 100,000 tables, in Chromium:
 * `node test/bench/console.ts [--tables=100000] [--rounds=7] [--minutes=1] [--json]`.
 *
 * The server has a process of its own, on the same machine as the browser. Printed are the first screen (signed in by
 * a password, by a link with an empty cache, and reloaded), the time until each screen has its data with the requests it
 * takes, searches as a person types, a chart of 10,000 values, what a poll costs the server, and the memory of two
 * pages that are left open for `--minutes`. Times are printed and never judged.
 */
import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { chromium, type Browser, type Page } from 'playwright-core'
import { startServer, type TestServer } from '../helpers/server.ts'
import { startApiServer, type Running } from './api-server.ts'
import {
  countBytes,
  openContext,
  openScreen,
  readFirstScreen,
  takeApiCalls,
  untilSettled,
  type FirstScreen,
} from './console-page.ts'
import { watchMemory } from './console-memory.ts'
import { measurePolls } from './console-polls.ts'
import { makeLargeWorld, type LargeWorld } from './console-world.ts'
import { median, printRows, quantile, withTeardown, type BenchRow, type Teardown } from './rows.ts'

const { values } = parseArgs({
  options: {
    tables: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '7' },
    minutes: { type: 'string', default: '1' },
    only: { type: 'string', default: 'first,screens,search,chart,polls,memory' },
    json: { type: 'boolean' },
  },
})
const TABLES = Number(values.tables)
const ROUNDS = Number(values.rounds)
const MINUTES = Number(values.minutes)
const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium'
const CHART_POINTS = 10_000
/** Between the keys of a person who types fast. */
const KEY_PAUSE_MS = 90
/** Names that are typed, as common and as rare as people's. */
const TERMS = ['orders_12', 'zebra', 'fact_customers', 'schema_3.dim', 'column_7', 'xq_nothing']

/** All that a part of the bench needs. */
interface Bench {
  app: TestServer
  world: LargeWorld
  server: Running
  browser: Browser
  /** Makes requests as if a minute had passed: no person opens so many screens in one. */
  forgetLimits(): Promise<unknown>
}

const PARTS: Record<string, (bench: Bench) => Promise<BenchRow[]>> = {
  first: measureFirstScreen,
  screens: measureScreens,
  search: measureSearch,
  chart: measureChart,
  polls: measurePollCosts,
  memory: bench => watchMemory(bench.world, () => openSignedIn(bench), MINUTES),
}

await withTeardown(main)

async function main(t: Teardown): Promise<void> {
  if (!existsSync(EXECUTABLE)) {
    console.log(`There is no Chromium at ${EXECUTABLE}: CHROMIUM names another place`)
    return printRows([])
  }
  const app = await startServer(t, { settings: { ROLE: 'web' } })
  const world = await makeLargeWorld(app, TABLES)
  const server = await startApiServer('ours', String(app.server.config.databaseUrl))
  t.teardown(() => server.stop())
  const browser = await chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox'] })
  t.teardown(() => browser.close())
  const forgetLimits = () => app.query('delete from rate_windows')
  const rows: BenchRow[] = []
  for (const part of values.only.split(','))
    rows.push(...(await PARTS[part]!({ app, world, server, browser, forgetLimits })))
  printRows(rows)
}

/** Signs in by a one-time link. */
async function openSignedIn({ app, world, server, browser, forgetLimits }: Bench): Promise<Page> {
  await forgetLimits()
  const page = await (await openContext(browser)).newPage()
  const link = await app.server.plugins.auth.createSignInLink({ ...world.tenant, seconds: 60 })
  await page.goto(`${server.url}/${new URL(link).search}`)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.locator('nav.screens').waitFor()
  return page
}

async function measureFirstScreen(bench: Bench): Promise<BenchRow[]> {
  const { world, server, browser, forgetLimits } = bench
  const ways = { link: [] as FirstScreen[], reload: [] as FirstScreen[] }
  const passwords: number[] = []
  const headlines: number[] = []
  const serverCpu: number[] = []
  let bytes = ''
  for (let round = 0; round <= ROUNDS; round++) {
    await server.spent()
    const page = await openSignedIn(bench)
    const byLink = await readFirstScreen(page)
    const { cpuMs } = await server.spent()
    const { scripts, all, files } = await countBytes(page)
    bytes = `${files} files, ${kb(all)} as sent, of which scripts ${kb(scripts)}`
    await page.reload()
    const reloaded = await readFirstScreen(page)
    await page.context().close()
    await forgetLimits()
    const form = await (await openContext(browser)).newPage()
    await form.goto(server.url)
    await form.getByLabel('Email').fill(world.tenant.email)
    await form.getByLabel('Password', { exact: true }).fill(world.tenant.password)
    const startedAt = await form.evaluate<number>('performance.now()')
    await form.keyboard.press('Enter')
    const { headlineMs, completeMs } = await readFirstScreen(form)
    await form.context().close()
    // The first round warms the server up.
    if (round === 0) continue
    ways.link.push(byLink)
    serverCpu.push(cpuMs)
    ways.reload.push(reloaded)
    passwords.push(completeMs - startedAt)
    headlines.push(headlineMs - startedAt)
  }
  console.log(`\nFirst screen, ${ROUNDS} rounds: best and median, ms (${bytes})\n`)
  for (const [name, all] of Object.entries(ways))
    for (const part of ['frameMs', 'headlineMs', 'completeMs', 'lcpMs', 'blockedMs'] as const)
      line(
        `${name}: ${part.replace('Ms', '')}`,
        all.map(screen => screen[part]),
      )
  line('link: CPU of the server', serverCpu)
  line('password to headline', headlines)
  line('password to complete', passwords)
  return [
    {
      what: 'Console: link to a complete overview',
      ours: median(ways.link.map(it => it.completeMs)),
      unit: 'ms',
    },
    {
      what: 'Console: reload of the overview',
      ours: median(ways.reload.map(it => it.completeMs)),
      unit: 'ms',
    },
    { what: 'Console: password to a complete overview', ours: median(passwords), unit: 'ms' },
  ]
}

async function measureScreens(bench: Bench): Promise<BenchRow[]> {
  const { world, server, forgetLimits, app } = bench
  const table = `/tables/${encodeURIComponent(world.table)}`
  const [alert] = await app.query('select id from alerts where status = $1 limit 1', ['triggered'])
  const screens: Record<string, string> = {
    overview: '/',
    alerts: '/alerts',
    alert: `/alerts/${String(alert?.id)}`,
    catalog: '/catalog',
    'catalog, page 1000': '/catalog?offset=49950',
    'catalog, searched': '/catalog?search=orders',
    table,
    'check with its chart': `${table}?check=${world.metricId}`,
    columns: `${table}?tab=columns`,
    changes: `${table}?tab=changes`,
    freshness: `${table}?tab=freshness`,
    lineage: `${table}?tab=lineage`,
    sources: '/sources',
    drift: '/changes',
    routing: '/routing',
    settings: '/settings',
  }
  const page = await openSignedIn(bench)
  await untilSettled(page)
  const opened = new Map<string, number[]>()
  const reloaded = new Map<string, number[]>()
  const requests = new Map<string, string>()
  for (let round = 0; round <= ROUNDS; round++)
    for (const [name, path] of Object.entries(screens)) {
      await forgetLimits()
      await page.goto(server.url + (path === '/settings' ? '/sources' : '/settings'))
      await untilSettled(page)
      await takeApiCalls(page)
      const ms = await openScreen(page, path)
      const calls = (await takeApiCalls(page)).filter(({ path }) => !isFramePoll(path))
      requests.set(name, `${calls.length}${calls.map(call => ` ${call.ms.toFixed(0)}`).join('')}`)
      await page.goto(server.url + path)
      const whole = await untilSettled(page)
      if (round === 0) continue
      opened.set(name, [...(opened.get(name) ?? []), ms])
      reloaded.set(name, [...(reloaded.get(name) ?? []), whole])
    }
  await page.context().close()
  console.log(`\nScreens, ${ROUNDS} rounds: best and median until all data is shown, ms\n`)
  for (const [name, all] of opened)
    line(
      name,
      all,
      `by its address ${median(reloaded.get(name)!).toFixed(0)}; requests ${requests.get(name)}`,
    )
  const slowest = [...opened]
    .map(([name, all]) => [name, median(all)] as const)
    .sort((a, b) => b[1] - a[1])[0]!
  return [{ what: `Console: slowest screen (${slowest[0]})`, ours: slowest[1], unit: 'ms' }]
}

/** From the last key until results stand there, which includes the pause that waits for more keys. */
async function measureSearch(bench: Bench): Promise<BenchRow[]> {
  const { server, forgetLimits } = bench
  const page = await openSignedIn(bench)
  const rows: BenchRow[] = []
  for (const [name, selector] of [
    ['palette', 'dialog.palette input'],
    ['catalog', 'main input[type=search]'],
  ] as const) {
    await page.goto(`${server.url}/catalog`)
    await untilSettled(page)
    if (name === 'palette') await page.keyboard.press('Control+k')
    const field = page.locator(selector)
    const shown: number[] = []
    const api: number[] = []
    for (let round = 0; round < ROUNDS; round++)
      for (const term of TERMS) {
        await forgetLimits()
        await field.fill('')
        await wait(500)
        await takeApiCalls(page)
        await field.pressSequentially(term, { delay: KEY_PAUSE_MS })
        const keyAt = await page.evaluate<number>('performance.now()')
        // The request of the whole term is the last one.
        const doneAt = await page.evaluate<number>(
          `new Promise(resolve => {
             const wanted = new URLSearchParams({ q: ${JSON.stringify(term)} }).toString().slice(2)
             const look = () => performance.getEntriesByType('resource').some(({ name, responseEnd }) =>
               responseEnd > 0 && name.includes('=' + wanted) && /search/.test(name))
               ? requestAnimationFrame(() => requestAnimationFrame(resolve)) : requestAnimationFrame(look)
             look()
           })`,
        )
        shown.push(doneAt - keyAt)
        const calls = (await takeApiCalls(page)).filter(({ path }) => /\/search\?|[?&]search=/.test(path))
        api.push(...calls.map(({ ms }) => ms))
      }
    const perTerm = (api.length / shown.length).toFixed(1)
    console.log(
      `\nSearch as you type in the ${name}: ${TERMS.length} terms, ${perTerm} requests each; best, median, p95, ms\n`,
    )
    line('last key to results', shown, quantile(shown, 0.95).toFixed(0))
    line('request', api, quantile(api, 0.95).toFixed(0))
    rows.push({
      what: `Console: requests of a search in the ${name} at p95`,
      ours: quantile(api, 0.95),
      unit: 'ms',
    })
  }
  await page.context().close()
  return rows
}

/** Draws a chart in a page of the console, by its own module. */
async function measureChart(bench: Bench): Promise<BenchRow[]> {
  const page = await openSignedIn(bench)
  await untilSettled(page)
  const main = await page.locator('script[type=module]').getAttribute('src')
  const took: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const ms = await page.evaluate<number>(
      `(async () => {
         const at = path => import(${JSON.stringify(main)}.replace('main', path))
         const [{ Chart }, { html }, { render }] = [await at('parts/chart/chart'), await at('lib/html'), await import('preact')]
         const points = Array.from({ length: ${CHART_POINTS} }, (_, n) => ({ at: 17e11 + n * 36e5,
           value: 1000 + 100 * Math.sin(n / 24) + n % 7, low: 880, high: 1120, isAnomaly: n % 500 === 0 }))
         const holder = document.getElementById('main').appendChild(document.createElement('div'))
         const startedAt = performance.now()
         render(html\`<\${Chart} title="Rows" points=\${points} />\`, holder)
         await new Promise(resolve => {
           const look = () => holder.querySelector('canvas') ? requestAnimationFrame(resolve) : requestAnimationFrame(look)
           look()
         })
         const took = performance.now() - startedAt
         render(null, holder)
         holder.remove()
         return took
       })()`,
    )
    if (round > 0) took.push(ms)
  }
  await page.context().close()
  console.log(`\nA chart of ${CHART_POINTS.toLocaleString('en')} values: best and median, ms\n`)
  line('until it is painted', took)
  return [{ what: `Console: chart of ${CHART_POINTS} values`, ours: median(took), unit: 'ms' }]
}

async function measurePollCosts({ server, world, forgetLimits }: Bench): Promise<BenchRow[]> {
  await forgetLimits()
  const costs = await measurePolls(server, world, ROUNDS * 20)
  console.log('\nOne poll\n')
  console.log(
    `${''.padEnd(32)}${['status', 'bytes', 'ms', 'cpu ms', 'statements', 'waits'].map(pad).join('')}`,
  )
  for (const { name, status, bytes, ms, cpuMs, statements, waits } of costs)
    console.log(
      name.padEnd(32) +
        [status, bytes, ms.toFixed(1), cpuMs.toFixed(2), statements.toFixed(1), waits.toFixed(1)]
          .map(pad)
          .join(''),
    )
  return costs.map(({ name, ms }) => ({ what: `Console: poll of ${name}`, ours: ms, unit: 'ms' }))
}

/** The poll of open alerts belongs to no screen. */
function isFramePoll(path: string): boolean {
  return /alerts\?status=triggered.*&limit=1$/.test(path)
}

function kb(bytes: number): string {
  return `${(bytes / 1_024).toFixed(0)} KB`
}

function line(name: string, all: readonly number[], more = ''): void {
  console.log(
    name.padEnd(32) + [Math.min(...all), median(all)].map(ms => pad(ms.toFixed(0))).join('') + `   ${more}`,
  )
}

function pad(text: string | number): string {
  return String(text).padStart(12)
}
