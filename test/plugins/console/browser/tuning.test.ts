/** Checks are added, tried, changed, paused and deleted in Chromium. */
import type { Page } from 'playwright-core'
import t from 'tap'
import { startStage, type Stage } from './stage.ts'

const stage = await startStage(t)
if (stage) await tryTuning(stage)

async function tryTuning({ app, world, origin, openAs, ready, untilValue, violationsOf }: Stage) {
  const table = `/tables/${encodeURIComponent(world.table)}`
  const open = async (query: string, options = {}) => {
    const opened = await openAs(world.tenant, table + query, options)
    await ready(opened.page)
    return opened
  }
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
  const windowFold = (page: Page) => page.getByText('Window: only one bucket of time')
  const count = async (path: string) =>
    (await world.tenant.ask('GET', `/api/v1/sdk/${path}/${encodeURIComponent(world.table)}`)).body.pagination
      .total as number

  /** A metric of some rows in buckets of a day, which have results that were revised. @returns its id */
  async function makeScoped(): Promise<string> {
    const path = `/api/v1/sdk/metrics/${encodeURIComponent(world.table)}`
    const { data } = (
      await world.tenant.ask('POST', path, {
        ...{ table_path: 'public.orders', metric_type: 'row_count', filter: "status = 'paid'" },
        ...{ time_column: 'created_at', window: '1d', window_delay: '2h', revisit: 1 },
      })
    ).body
    await world.tenant.ask('POST', `${path}/${data.id}/capture`, {})
    await app.query(
      `update check_results set revisions = 2, revised_at = now(), first_value = 480 where check_id = $1`,
      [data.internal_id],
    )
    return data.id as string
  }

  t.test(
    'a rule is tried before it is made, and the past follows the threshold without a statement',
    async t => {
      const { page, faults } = await open('?add')
      const dryRuns: string[] = []
      page.on('request', request => {
        if (request.url().endsWith('/dry-run')) dryRuns.push(request.url())
      })
      await page.locator('a[href*="add=RANGE"]').click()
      await button(page, 'Try it').click()
      await page.getByText('Columns is needed.').waitFor()
      t.equal(dryRuns.length, 0, 'what is wrong with the form asks for nothing')

      await page.getByLabel('total').check()
      await page.getByLabel('Max').fill('400')
      await button(page, 'Try it').click()
      await page.getByText('20 % invalid (100 of 500 rows)').waitFor()
      t.match(await page.locator('.preview .now').innerText(), /would fail/)
      t.match(await page.locator('.preview').innerText(), /Cost\s+A run reads about .* a month of 30 runs/)
      t.match(await page.locator('.sql code').first().innerText(), /select .* from "public"\."orders"/s)
      const threshold = page.getByLabel('Threshold (% of invalid rows)')
      await threshold.fill('50')
      await page.locator('.preview .now').getByText('would pass').waitFor()
      const handle = page.getByRole('slider')
      await handle.press('ArrowUp')
      await untilValue(threshold, '51')
      const box = (await handle.boundingBox())!
      await page.mouse.move(box.x + 12, box.y + 12)
      await page.mouse.down()
      await page.mouse.move(box.x + 12, box.y + 62, { steps: 3 })
      await page.mouse.up()
      t.ok(Number(await threshold.inputValue()) < 51, 'the pointer moves it too')
      t.equal(dryRuns.length, 1, 'one statement serves all thresholds')
      await page.getByLabel('Max').fill('450')
      await page.getByText('The form has changed since').waitFor()

      await page.reload()
      await ready(page)
      t.strictSame(faults, { errors: [], elsewhere: [] })
      await page.context().close()
    },
  )

  t.test('what is written stays on Back, and what the server refuses stands beside its field', async t => {
    const { page } = await open('?add=REGEX&column=email')
    await page.getByLabel('Pattern').fill('([a-z')
    await page.getByRole('link', { name: 'Another type' }).click()
    await page.locator('.types').first().waitFor()
    await page.goBack()
    await untilValue(page.getByLabel('Pattern'), '([a-z')
    t.ok(await page.getByLabel('email').isChecked(), 'the address names the column')
    const before = await count('validity')
    await button(page, 'Create check').click()
    await page.locator('[name="rule_config.pattern"][aria-invalid=true]').waitFor()
    await untilValue(page.getByLabel('Pattern'), '([a-z')
    await page.getByLabel('Pattern').fill('@')
    await button(page, 'Create check').click()
    await page.getByText('1 check was created.').waitFor()
    t.equal(await count('validity'), before + 1)
    await page.context().close()
  })

  t.test('several columns make a check each, and the outcome of each is shown', async t => {
    const { page } = await open('?add=NOT_NULL')
    const before = await count('validity')
    for (const column of ['id', 'total']) await page.getByLabel(column, { exact: true }).check()
    await button(page, 'Create 2 checks').click()
    await page.getByText('2 checks were created.').waitFor()
    t.equal(await count('validity'), before + 2)

    await page.goto(`${origin}${table}?add=NOT_NULL`)
    await ready(page)
    for (const column of ['status', 'created_at']) await page.getByLabel(column, { exact: true }).check()
    await page.route('**/bulk', route =>
      route.fulfill({
        json: {
          data: {
            results: [
              { column_name: 'status', status: 'created', id: 'v_1', error: null },
              { column_name: 'created_at', status: 'failed', id: null, error: 'There is no such column' },
            ],
            created: 1,
            failed: 1,
            total: 2,
          },
        },
      }),
    )
    await button(page, 'Create 2 checks').click()
    await page.getByText('1 of 2 checks were created').waitFor()
    await page.getByText('There is no such column').waitFor()
    t.notOk(await page.getByLabel('status', { exact: true }).isChecked())
    t.ok(await page.getByLabel('created_at', { exact: true }).isChecked(), 'what failed is still chosen')
    await page.context().close()
  })

  t.test(
    'a metric shows its alerts at each sensitivity, and the choice asks the source for nothing',
    async t => {
      const { page } = await open('?add=row_count')
      await button(page, 'Try it').click()
      await page.locator('.by-sensitivity').waitFor()
      t.equal(await page.locator('.by-sensitivity tbody tr').count(), 4)
      let asked = 0
      page.on('request', request => void (request.url().endsWith('/dry-run') && asked++))
      await button(page, 'Use sensitivity 4').click()
      await untilValue(page.locator('[name=sensitivity]'), '4')
      await page.getByRole('slider').press('ArrowDown')
      await untilValue(page.locator('[name=sensitivity]'), '3')
      await page.locator('[name=sensitivity]').fill('20')
      await button(page, 'Create check').click()
      await page.getByText('Sensitivity must be at most 10.').waitFor()
      t.equal(asked, 0)
      await page.context().close()
    },
  )

  t.test('a metric gets limits, which judge the value of now and can be taken away again', async t => {
    const { page } = await open('?add=row_count')
    await page.locator('[name=min]').fill('1000000')
    await button(page, 'Try it').click()
    await page.locator('.preview .now').getByText('would fail').waitFor()
    const made = page.waitForResponse(reply => reply.request().method() === 'POST' && reply.status() === 201)
    await button(page, 'Create check').click()
    const { data } = (await (await made).json()) as { data: { id: string } }
    t.match(data, { min: 1_000_000, max: null, detection: 'threshold' })
    await page.goto(`${origin}${table}?edit=${data.id}`)
    await ready(page)
    await page.locator('[name=min]').fill('')
    const changed = page.waitForResponse(reply => reply.request().method() === 'PATCH')
    await button(page, 'Save').click()
    t.match(await (await changed).json(), { data: { min: null, detection: 'anomaly' } })
    await page.context().close()
  })

  t.test('a filter and a window are tried and made, and refused beside their fields', async t => {
    const { page } = await open('?add=row_count')
    const field = (name: string) => page.locator(`[name=${name}]`)
    const fold = windowFold(page)
    t.notOk(await field('window').isVisible(), 'it is folded')
    await field('filter').fill('total >')
    await fold.click()
    t.strictSame(await field('time_column').locator('option').allInnerTexts(), ['–', 'created_at'])
    await field('time_column').selectOption('created_at')
    await field('window').fill('5h')
    await fold.click()
    await button(page, 'Try it').click()
    await page.locator('[name=window][aria-invalid=true]').waitFor()
    await field('window').fill('1d')
    await button(page, 'Try it').click()
    await page.locator('[name=filter][aria-invalid=true]').waitFor()
    await field('filter').fill("status = 'paid'")
    await field('window_delay').fill('2h')
    await field('revisit').fill('3')
    const scope = { filter: "status = 'paid'", time_column: 'created_at', window: '1d', window_delay: '2h' }
    const tried = page.waitForRequest(/dry-run$/)
    await button(page, 'Try it').click()
    t.match((await tried).postDataJSON(), { ...scope, revisit: 3 })
    await page.locator('.preview').getByText('Newest bucket', { exact: true }).first().waitFor()
    await page.getByText('30 values of the last 30 days, buckets of created_at.').waitFor()
    await page
      .locator('.sql code', { hasText: /"created_at" >= .*'paid'|'paid'.*"created_at" >= /s })
      .waitFor()
    const made = page.waitForResponse(reply => reply.request().method() === 'POST' && reply.status() === 201)
    await button(page, 'Create check').click()
    t.match(await (await made).json(), { data: { ...scope, revisit: 3 } })
    await page.context().close()
  })

  t.test('late data of a window can be changed, and what cannot be is said', async t => {
    const { page } = await open(`?edit=${await makeScoped()}`)
    await page.getByText('cannot be changed, nor its filter, time column and window').waitFor()
    t.match(await page.locator('dl.facts').last().innerText(), /filter\s+status = 'paid'/)
    t.equal(await page.locator('[name=filter], [name=time_column], [name=window]').count(), 0)
    await page.locator('[name=window_delay]').fill('1d')
    await page.locator('[name=revisit]').fill('')
    const changed = page.waitForResponse(reply => reply.request().method() === 'PATCH')
    await button(page, 'Save').click()
    t.match(await (await changed).json(), { data: { window_delay: '1d', revisit: null } })
    await page.context().close()
  })

  t.test('a metric is named and given a severity, and both are taken away again', async t => {
    const id = await makeScoped()
    const { page } = await open(`?edit=${id}`)
    await page.getByRole('heading', { name: 'Edit row count' }).waitFor()
    const save = async (name: string, severity: string) => {
      await page.getByText('More settings').click()
      await page.locator('[name=name]').fill(name)
      await page.locator('[name=severity]').selectOption(severity)
      const changed = page.waitForResponse(reply => reply.request().method() === 'PATCH')
      await button(page, 'Save').click()
      const reply = await (await changed).json()
      await page.goto(`${origin}${table}?edit=${id}`)
      await ready(page)
      return reply
    }
    t.match(await save('Paid orders', 'critical'), { data: { name: 'Paid orders', severity: 'critical' } })
    await page.getByRole('heading', { name: 'Edit Paid orders' }).waitFor()
    t.match(await save('', ''), { data: { name: null, severity: null } })
    await page.getByRole('heading', { name: 'Edit row count' }).waitFor()
    await page.context().close()
  })

  t.test('a check says in words which rows it is about, and how often its buckets were revised', async t => {
    const { page } = await open(`?check=${await makeScoped()}`)
    const opened = page.locator('.opened')
    await opened.getByText("Rows where status = 'paid'").waitFor()
    await opened.getByText('One bucket a day by created_at, 2 h delay, the last one measured again').waitFor()
    await page
      .locator('.readout')
      .getByText(/^bucket until \d/)
      .waitFor()
    await page.locator('.readout').getByText('revised 2 times, first value 480').waitFor()
    await page.context().close()
  })

  t.test('a table without a column of time offers no window, but a filter', async t => {
    const { page } = await openAs(world.tenant, `${table.replace('orders', 'customers')}?add=row_count`)
    await ready(page)
    await page.getByLabel('Only rows where').waitFor()
    t.equal(await page.locator('[name=window]').count(), 0)
    await page.context().close()
  })

  t.test('a referential check is tried and made', async t => {
    const { page } = await open('?add=referential')
    await page.locator('[name=child_column_name]').selectOption('id')
    await page.locator('[name=parent_table_path]').fill('public.customers')
    await page.locator('[name=parent_column_name]').fill('nothing')
    await button(page, 'Try it').click()
    await page.locator('[name=parent_column_name][aria-invalid=true]').waitFor()
    await page.locator('[name=parent_column_name]').fill('id')
    await button(page, 'Try it').click()
    await page.getByText('500 rows of 500 without a parent').waitFor()
    await button(page, 'Create check').click()
    await page.getByText('1 check was created.').waitFor()
    t.equal(await count('referential'), 1)
    await page.context().close()
  })

  t.test('a check is run, paused, resumed, changed and deleted', async t => {
    const { page } = await open(`?check=${world.metricId}`)
    await button(page, 'Run now').click()
    await page.getByText(/It (passed|failed)\./).waitFor()
    await button(page, 'Pause').click()
    await page.getByText('The check is paused.').waitFor()
    await button(page, 'Resume').click()
    await page.getByText('The check runs again.').waitFor()
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.locator('[name=sensitivity]').fill('0')
    await button(page, 'Save').click()
    await page.getByText('Sensitivity must be at least 0.1.').waitFor()
    await page.locator('[name=sensitivity]').fill('3.5')
    await button(page, 'Save').click()
    await page.getByText('Saved.').waitFor()
    const path = `/api/v1/sdk/metrics/${encodeURIComponent(world.table)}/${world.metricId}`
    t.match((await world.tenant.ask('GET', path)).body.data, { sensitivity: 3.5, capture_interval: 'daily' })
    await button(page, 'Delete').click()
    await page.getByRole('dialog').getByText('Its results').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    t.equal((await world.tenant.ask('GET', path)).status, 200)
    await button(page, 'Delete').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText(/was deleted/).waitFor()
    t.equal((await world.tenant.ask('GET', path)).status, 404)
    await page.context().close()
  })

  for (const width of [360, 1280])
    for (const colorScheme of ['light', 'dark'] as const)
      t.test(`forms fit ${width} px in ${colorScheme} and are accessible`, async t => {
        const { page, faults } = await open('', { viewport: { width, height: 800 }, colorScheme })
        const { items } = (
          await world.tenant.ask('GET', `/api/v1/sdk/validity/${encodeURIComponent(world.table)}`)
        ).body.data
        const scoped = await makeScoped()
        for (const query of [
          '?add',
          '?add=row_count',
          `?check=${scoped}`,
          `?edit=${scoped}`,
          '?add=RANGE&column=total',
          '?add=referential',
          `?edit=${items[0].uuid}`,
        ]) {
          await page.goto(origin + table + query)
          await ready(page)
          if (query === '?add=row_count') await windowFold(page).click()
          if (/RANGE|edit/.test(query)) {
            if (/RANGE/.test(query)) await page.getByLabel('Max').fill('400')
            await button(page, 'Try it').click()
            await page.locator('.preview .now').waitFor()
            await page.locator('.chart').waitFor()
          }
          t.strictSame(await violationsOf(page), [], `${query}: axe`)
          const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
          t.ok(overflow <= 0, `${query}: no scrolling sideways`)
        }
        t.strictSame(faults, { errors: [], elsewhere: [] })
        await page.context().close()
      })

  t.test('a viewer sees no form and no buttons', async t => {
    const { page } = await open('?add')
    await page.context().close()
    await app.query(`update users set role = 'viewer' where email = $1`, [world.tenant.email])
    const seen = await open('?add=RANGE')
    await seen.page.locator('.checks').waitFor()
    t.equal(await seen.page.getByText('Add a check').count(), 0)
    t.equal(await seen.page.locator('.preview').count(), 0)
    await seen.page.context().close()
  })
}
