/** The default window of a table is taken, changed and removed in Chromium, and forms of checks begin with it. */
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t from 'tap'
import { startStage, type Stage } from './stage.ts'

const SIZES = [
  [360, 'light'],
  [1280, 'light'],
  [360, 'dark'],
  [1280, 'dark'],
] as const

const stage = await startStage(t)
if (stage) await tryWindows(stage)

async function tryWindows({ app, world, openAs, ready, violationsOf, untilValue }: Stage) {
  const table = `/tables/${encodeURIComponent(world.table)}`
  const path = `/api/v1/sdk/assets/${encodeURIComponent(world.table)}`
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
  const { id } = (await world.tenant.ask('GET', path)).body.data as { id: string }
  await app.query('update tables set partitioning = $2 where id = $1', [
    id,
    { columns: [{ name: 'created_at', method: 'range' }], clustering: [] },
  ])
  const setting = async () => (await world.tenant.ask('GET', path)).body.data.default_window
  const shoot = async (page: Page, name: string) => {
    if (process.env.SCREENSHOTS)
      await page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`), fullPage: true })
  }

  for (const [width, colorScheme] of SIZES)
    t.test(`the form fits ${width} px in ${colorScheme}, with a proposal and with a window`, async t => {
      for (const [name, default_window] of [
        ['proposal', null],
        ['set', { time_column: 'created_at', window: '1d', window_delay: '2h' }],
      ] as const) {
        await world.tenant.ask('PATCH', path, { default_window })
        const { page } = await openAs(world.tenant, `${table}?tab=settings`, {
          viewport: { width, height: 800 },
          colorScheme,
        })
        await ready(page)
        await page.getByRole('heading', { name: 'Default window' }).waitFor()
        t.ok((await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')) <= 0)
        t.strictSame(await violationsOf(page), [], 'axe')
        await shoot(page, `window-${name}-${width}-${colorScheme}`)
        await page.context().close()
      }
    })

  t.test('a proposal is taken by one click, changed, and removed', async t => {
    await world.tenant.ask('PATCH', path, { default_window: null })
    const { page, faults } = await openAs(world.tenant, `${table}?tab=settings`)
    await ready(page)
    await page.getByText('Its rows are partitioned by').waitFor()
    await button(page, 'Check days').click()
    await button(page, 'Remove it').waitFor()
    t.same(await setting(), { time_column: 'created_at', window: '1d', window_delay: null })
    await untilValue(page.getByLabel('Bucket'), '1d')
    await page.getByLabel('Delay').fill('2h')
    await page.getByLabel('Bucket').fill('5h')
    await button(page, 'Set the default window').click()
    await page.getByText(/hours that divide a day/).waitFor()
    await page.getByLabel('Bucket').fill('6h')
    const answered = page.waitForResponse(answer => answer.request().method() === 'PATCH' && answer.ok())
    await button(page, 'Set the default window').click()
    await answered
    await untilValue(page.getByLabel('Bucket'), '6h')
    t.same(await setting(), { time_column: 'created_at', window: '6h', window_delay: '2h' })
    await button(page, 'Remove it').click()
    await page.getByText('Checks of this table are about all of its rows.').waitFor()
    t.equal(await setting(), null)
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('a new check begins with the default window, and without a bucket it is about all rows', async t => {
    await world.tenant.ask('PATCH', path, {
      default_window: { time_column: 'created_at', window: '1d', window_delay: '2h' },
    })
    const stored = async (name: string) =>
      (
        await app.query('select time_column, window_size, window_delay from checks where name = $1', [name])
      )[0]
    for (const [name, bucket, expected] of [
      ['By day', '1d', { time_column: 'created_at', window_size: '1d', window_delay: '2h' }],
      ['All rows', '', { time_column: null, window_size: null, window_delay: null }],
    ] as const) {
      const { page } = await openAs(world.tenant, `${table}?add=NOT_NULL&column=email`)
      await ready(page)
      t.equal(await page.getByLabel('Time column').inputValue(), 'created_at')
      await page.getByText('The default of the table.').waitFor()
      await shoot(page, `window-check-${bucket || 'none'}`)
      await page.getByLabel('Bucket', { exact: true }).fill(bucket)
      const more = page.getByText(/^More/)
      if (await more.count()) await more.first().click()
      await page.getByLabel('Name', { exact: true }).fill(name)
      await button(page, 'Create check').click()
      // There is one of all rows already.
      if (bucket === '') await button(page, 'Create it anyway').click()
      await page.getByText(/check was created/).waitFor()
      t.same(await stored(name), expected)
      await page.context().close()
    }
  })
}
