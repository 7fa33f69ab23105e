/** Charts of the console in Chromium. The time that 10,000 values take to draw is reported, not judged. */
import type { Page } from 'playwright-core'
import t from 'tap'
import { startStage, type Stage } from './stage.ts'

const HOURS = 12_000
const MAX_POINTS = 10_000
const PAGE = 1_000

const stage = await startStage(t)
if (stage) await tryConsole(stage)

/** Gives the metric an hourly past of more than a year, and its table operating hours. */
async function fillPast({ app, world: { tenant, metricId, table } }: Stage): Promise<string> {
  const id = metricId.replace('m_', '')
  await app.query('delete from check_results')
  await app.query(
    `insert into check_results (company_id, check_id, series, value, total_rows, status, at,
       z_score, expected, low, high, details)
     select company_id, id, '{}', 500 + n % 24 + case when n % 50 = 0 then 90 else 0 end, 500,
       case when n % 50 = 0 then 'fail' else 'pass' end, now() - make_interval(hours => n),
       case when n % 50 = 0 then 7.5 else 0.5 end, 512, 490, 530, '{"basis": {"kind": "level", "cycle": null, "slot": null, "sightings": 40}}'
     from checks, generate_series(0, $2) n where uuid = $1`,
    [id, HOURS],
  )
  const schedule = await tenant.ask('POST', '/api/v1/operating-schedules', {
    name: 'Office hours',
    timezone: 'Europe/Berlin',
    rules: [{ days: [1, 2, 3, 4, 5], start: '08:00', end: '18:00' }],
  })
  const checks = await tenant.ask('GET', `/api/v1/sdk/checks/${encodeURIComponent(table)}?kind=validity`)
  const rule = checks.body.data.items.find(({ name }: { name: string }) => name.startsWith('RANGE'))
  const changed = await tenant.ask('PATCH', `/api/v1/sdk/validity/${encodeURIComponent(table)}/${rule.id}`, {
    operating_period_mode: 'schedule',
    operating_schedule_id: schedule.body.id,
    alert_threshold_percent: 10,
  })
  if (changed.status !== 200) throw new Error(JSON.stringify(changed.body))
  // A chart is drawn of two values and more.
  await app.query(
    `insert into check_results (company_id, check_id, series, value, total_rows, status, at)
     select company_id, id, '{}', 5, 500, 'pass', now() - make_interval(days => n)
     from checks, generate_series(1, 2) n where uuid = $1`,
    [rule.id.replace('v_', '')],
  )
  return rule.id
}

async function tryConsole(stage: Stage) {
  const { world, openAs, ready, untilCount, violationsOf } = stage
  const ruleId = await fillPast(stage)
  const addressOf = (check: string) => `/tables/${encodeURIComponent(world.table)}?check=${check}`
  const readout = (page: Page) => page.locator('.readout').innerText()
  const shown = (page: Page) => page.locator('.chart .shown').innerText()
  const plotOf = async (page: Page) => {
    await page.locator('.plot canvas').waitFor()
    await page.locator('.plot').focus()
    return page.locator('.plot')
  }

  t.test('a value is read with its range, its deviation and the sentence that explains it', async t => {
    const { page } = await openAs(world.tenant, addressOf(world.metricId))
    await ready(page)
    const plot = await plotOf(page)
    t.match(await plot.getAttribute('aria-label'), /Arrow keys .* Shift .* Plus and minus zoom, 0 shows all/)
    t.match(
      await readout(page),
      /590 rows\s+expected 490 to 530\s+anomaly\s.*590 rows, expected 490 to 530 .*compared with 40 earlier values/s,
    )
    await page.keyboard.press('ArrowLeft')
    t.match(await readout(page), /501 rows\s+expected 490 to 530\s.*501 rows, expected/s)
    const legend = await page.locator('.legend').innerText()
    t.match(legend, /expected.*anomaly/s)
    t.notMatch(legend, 'not operating', 'the hours are those of a rule')
    t.strictSame(await violationsOf(page), [])
    await page.context().close()
  })

  t.test('the value that is read stays when the marks come after it', async t => {
    const { page } = await openAs(world.tenant, '/')
    let sendMarks = () => {}
    const isRead = new Promise<void>(resolve => (sendMarks = resolve))
    await page.route('**/health/events/**', async route => {
      await isRead
      await route.continue()
    })
    await page.goto(stage.origin + addressOf(world.metricId))
    const plot = await plotOf(page)
    await page.keyboard.press('ArrowLeft')
    const read = await readout(page)
    t.match(read, /501/)
    const before = await plot.locator('canvas').elementHandle()
    const marks = page.waitForResponse('**/health/events/**')
    sendMarks()
    await marks
    await page.waitForFunction(canvas => !canvas?.isConnected, before)
    await ready(page)
    t.match(await readout(page), /501 rows\s+expected/)
    await page.context().close()
  })

  t.test('keys, a drag and the wheel zoom and move; older values are loaded on the way', async t => {
    const { page, faults } = await openAs(world.tenant, addressOf(world.metricId))
    const offsets: (string | null)[] = []
    page.on('request', request => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname.endsWith('/snapshots')) offsets.push(searchParams.get('offset'))
    })
    await page.reload()
    await ready(page)
    const plot = await plotOf(page)
    const month = await shown(page)
    await page.keyboard.press('0')
    const whole = await shown(page)
    t.not(month, whole, 'the last month is shown at first')
    await page.keyboard.press('+')
    await page.keyboard.press('+')
    const zoomed = await shown(page)
    t.not(zoomed, whole, 'zooms in')
    await page.keyboard.press('Shift+ArrowLeft')
    const moved = await shown(page)
    t.not(moved, zoomed, 'moves to earlier values')
    await page.keyboard.press('Shift+ArrowRight')
    t.equal(await shown(page), zoomed, 'and back')
    const { x, y, width, height } = (await plot.boundingBox())!
    const middle: [number, number] = [x + width / 2, y + height / 2]
    const drag = async (by: number) => {
      await page.mouse.move(...middle)
      await page.mouse.down()
      await page.mouse.move(middle[0] + by, middle[1], { steps: 4 })
      await page.mouse.up()
    }
    await page.keyboard.down('Shift')
    await drag(150)
    const dragged = await shown(page)
    t.not(dragged, zoomed, 'is dragged with Shift')
    await page.mouse.wheel(0, 400)
    t.not(await shown(page), dragged, 'is moved by the wheel with Shift')
    await page.keyboard.up('Shift')
    await page.keyboard.press('0')
    t.equal(await shown(page), whole, 'shows all')
    await drag(150)
    t.not(await shown(page), whole, 'a drag without Shift zooms')
    await page.keyboard.press('0')
    t.strictSame(offsets, ['0'], 'one request so far')
    await page.keyboard.press('-')
    await untilCount(page, '.chart [role=status]:not(:empty)', count => count === 0)
    t.ok(offsets.length > 1 && offsets[1] === String(PAGE), 'zooming out loads what was before')
    t.not(await shown(page), whole)
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('10,000 values are loaded by pages and drawn', async t => {
    const { page, faults } = await openAs(world.tenant, addressOf(world.metricId))
    await ready(page)
    await plotOf(page)
    const pages = new Set<string>()
    page.on('request', request => request.url().includes('/snapshots') && pages.add(request.url()))
    await page.getByRole('button', { name: 'all', exact: true }).click()
    while (pages.size < MAX_POINTS / PAGE - 1) await page.waitForTimeout(50)
    await untilCount(page, '.chart [role=status]:not(:empty)', count => count === 0)
    const [from = '', to = ''] = (await shown(page)).split(' to ')
    const days = (Date.parse(`1 ${to}`) - Date.parse(`1 ${from}`)) / 86_400_000
    t.ok(days > 380 && days < 440, `10,000 hours: ${from} to ${to}`)
    const timed = await page.evaluate<{ build: number; draw: number }>(`(async () => {
      const median = all => all.sort((a, b) => a - b)[Math.floor(all.length / 2)]
      const time = async work => {
        const found = []
        for (let n = 0; n < 9; n++) {
          const start = performance.now()
          work(n)
          await Promise.resolve()
          // Waits until the canvas has been painted.
          document.querySelector('.plot canvas').getContext('2d').getImageData(0, 0, 1, 1)
          found.push(performance.now() - start)
          await new Promise(resolve => setTimeout(resolve, 30))
        }
        return median(found)
      }
      const plot = document.querySelector('.plot')
      const press = key => plot.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
      const build = await time(() => dispatchEvent(new Event('tidemark:theme')))
      const draw = await time(n => press(n % 2 ? '0' : '+'))
      return { build, draw }
    })()`)
    t.comment(
      `10,000 values: built and drawn in ${timed.build.toFixed(1)} ms, drawn anew in ${timed.draw.toFixed(1)} ms`,
    )
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('the chart of a rule has its threshold, and its invalid rows are opened below', async t => {
    const { page } = await openAs(world.tenant, addressOf(ruleId))
    await ready(page)
    await plotOf(page)
    t.match(await page.locator('.legend').innerText(), /Threshold.*not operating/s)
    await page.getByRole('button', { name: 'Check again and show invalid rows' }).click()
    await page.locator('table.samples tbody tr').first().waitFor()
    t.equal(await page.locator('table.samples tbody tr').count(), 20)
    t.strictSame(await violationsOf(page), [])
    await page.context().close()
  })
}
