/** Every screen of the console in Chromium. SCREENSHOTS=<folder> keeps a picture of each, to be looked at. */
import { join } from 'node:path'
import t from 'tap'
import { addLineage, HOSTILE_NAMES, untilIncident } from './world.ts'
import { startStage, type Stage } from './stage.ts'

const SIZES = [
  [360, 'light'],
  [1280, 'light'],
  [360, 'dark'],
  [1280, 'dark'],
  [2560, 'light'],
] as const

const stage = await startStage(t, { settings: { EGRESS_ALLOW: '127.0.0.0/8' } })
// Some 50 screens at five sizes take minutes on a busy machine, more than the stage allows for.
t.setTimeout(1_200_000)
t.comment('timeout=1200000')
if (stage) await tryConsole(stage)

async function tryConsole({ app, world, origin, openAs, ready, violationsOf }: Stage) {
  const { tenant } = world
  const create = async (path: string, payload: object): Promise<string> =>
    (await tenant.ask('POST', `/api/v1/sdk/alerts${path}`, payload)).body.data.id
  // Nothing listens there.
  const hook = { destination_type: 'webhook', config: { url: 'https://127.0.0.1:9/hook' } }
  const destination = await create('/destinations', { name: 'On call', ...hook })
  const rule = await create('/rules', {
    name: 'Critical to on call',
    destination_ids: [destination],
    severities: ['critical'],
    cooldown_minutes: 60,
  })
  const tested = await tenant.ask('POST', `/api/v1/sdk/alerts/destinations/${destination}/test`, {})
  const { body: recommended } = await tenant.ask(
    'GET',
    `/api/v1/sdk/recommendations?asset_id=${world.source}&type=row_count,freshness,mean&limit=1`,
  )
  const recommendation = String(recommended.data.recommendations[0].id)
  await tenant.ask('POST', '/api/v1/sdk/teams', {
    ...{ name: 'Data Platform', description: 'Builds what all others use.' },
    members: [tenant.email, ...[1, 2, 3, 4].map(n => `member.${n}@example.com`)],
  })
  await tenant.ask('PUT', '/api/v1/sdk/owners', { asset_id: world.table, owners: ['Data Platform'] })
  const ids = await addLineage(app, world)
  const incident = await untilIncident(world)
  const changes = await tenant.ask('GET', '/api/v1/sdk/schema/changes?limit=1')
  const table = `/tables/${encodeURIComponent(world.table)}`
  const screens = {
    overview: '/',
    alerts: '/alerts',
    alert: `/alerts/${world.alertIds[0]}`,
    incidents: '/incidents?tab=all',
    incident: `/incidents/${incident}`,
    catalog: '/catalog',
    search: '/catalog?search=email&status=failing',
    checks: '/checks',
    recommendations: `/recommendations?source=${world.source}`,
    recommendation: `/recommendations?source=${world.source}&open=${recommendation}`,
    health: table,
    check: `${table}?check=${world.metricId}`,
    addCheck: `${table}?add`,
    addRange: `${table}?add=RANGE`,
    editCheck: `${table}?edit=${world.metricId}`,
    columns: `${table}?tab=columns`,
    profile: `${table}?tab=profile`,
    noProfile: `/tables/${encodeURIComponent(world.hostileTable)}?tab=profile`,
    changes: `${table}?tab=changes`,
    freshness: `${table}?tab=freshness`,
    lineage: `${table}?tab=lineage`,
    lineageList: `${table}?tab=lineage&view=list&follow=${ids.orders}.total`,
    tableSettings: `${table}?tab=settings`,
    hostile: `/tables/${encodeURIComponent(world.hostileTable)}?tab=columns`,
    sources: '/sources',
    source: `/sources/${world.source}`,
    connection: `/sources/${world.source}?tab=connection`,
    tables: `/sources/${world.source}?tab=tables`,
    watch: `/sources/${world.source}?tab=watch`,
    bulkFreshness: `/sources/${world.source}?tab=watch&part=freshness`,
    cost: `/sources/${world.source}?tab=cost`,
    contracts: '/contracts',
    contract: '/contracts/orders',
    contractDocument: '/contracts/orders?tab=document',
    contractHistory: '/contracts/orders?tab=history',
    newContract: '/contracts?add=1',
    schedules: '/schedules',
    lineageTools: '/connect?tab=airflow',
    newSchedule: '/schedules/new',
    engines: '/sources?add=',
    connect: '/sources?add=postgresql',
    drift: '/changes',
    impact: `/changes?change=${changes.body.data.data[0].id}`,
    routing: '/routing',
    rules: '/routing?tab=rules',
    rule: `/routing?tab=rules&rule=${rule}`,
    newRule: '/routing?tab=rules&rule=new',
    destination: `/routing/${destination}?delivery=${tested.body.data.delivery_id}`,
    destinationSettings: `/routing/${destination}?tab=settings`,
    newDestination: '/routing/new',
    webhook: '/routing/new?type=webhook',
    settings: '/settings',
    people: '/settings/people',
    teams: '/settings/teams',
    keys: '/settings/keys',
    audit: '/settings/audit',
    operations: '/settings/operations',
    missing: '/nothing-here/at-all',
  }
  for (const [width, colorScheme] of SIZES)
    t.test(
      `every screen fits ${width} px in ${colorScheme}, is accessible, and keeps the policy`,
      async t => {
        const { page, faults } = await openAs(world.tenant, '/', {
          viewport: { width, height: 800 },
          colorScheme,
        })
        for (const [name, path] of Object.entries(screens)) {
          if (name === 'missing')
            await page.evaluate(
              `history.pushState(null, '', '${path}'); dispatchEvent(new PopStateEvent('popstate'))`,
            )
          else await page.goto(origin + path)
          await ready(page)
          if (process.env.SCREENSHOTS)
            await page.screenshot({
              path: join(process.env.SCREENSHOTS, `${name}-${width}-${colorScheme}.png`),
            })
          const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
          t.ok(overflow <= 0, `${name}: no scrolling sideways`)
          t.strictSame(await violationsOf(page), [], `${name}: axe`)
          const [headings, title] = [await page.locator('h1').count(), await page.title()]
          t.ok(headings <= 1 && title !== '', `${name}: one heading, and a title`)
        }
        t.strictSame(faults, { errors: [], elsewhere: [] })
        await page.context().close()
      },
    )

  t.test('names from a database are text, whatever they hold', async t => {
    const { page } = await openAs(
      world.tenant,
      `/tables/${encodeURIComponent(world.hostileTable)}?tab=columns`,
    )
    await ready(page)
    t.match(await page.locator('h1').innerText(), '<script>')
    for (const name of HOSTILE_NAMES) await page.getByText(name, { exact: true }).first().waitFor()
    t.equal(await page.evaluate('globalThis.isAttacked'), undefined)
    await page.context().close()
  })

  t.test('a screen takes at most three requests of the API', async t => {
    const { page } = await openAs(world.tenant)
    // The requests of the screen that a sign-in opens are not those of the first one here.
    await ready(page)
    const asked: string[] = []
    page.on('request', request => {
      const { pathname, searchParams } = new URL(request.url())
      // The poll of open alerts belongs to the frame.
      const isPoll = pathname.endsWith('/alerts') && searchParams.get('limit') === '1'
      if (pathname.startsWith('/api/') && !isPoll) asked.push(pathname)
    })
    for (const [name, path] of Object.entries(screens)) {
      if (name === 'missing') continue
      asked.splice(0)
      await page.goto(origin + path)
      await ready(page)
      // With its chart a check is a screen of its own.
      const most = name === 'check' ? 4 : 3
      t.ok(asked.length <= most, `${name}: ${asked.join(' ')}`)
    }
    await page.context().close()
  })
}
