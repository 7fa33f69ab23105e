import t from 'tap'
import { startStage } from './stage.ts'

const stage = await startStage(t)
if (stage) {
  const { app, world, openAs, ready, untilValue, violationsOf } = stage
  const { tenant } = world
  const wide = { viewport: { width: 1280, height: 900 } }
  const narrow = { viewport: { width: 360, height: 780 } }
  const sourcePath = `/sources/${world.source}?tab=watch`
  const tablePath = (name: string) => `/tables/${encodeURIComponent(name)}?tab=freshness`
  const customers = world.table.replace(/orders$/, 'customers')

  t.test('checks for many tables are created from a preview', async t => {
    const { page, faults } = await openAs(tenant, sourcePath, wide)
    const side = page.getByRole('region', { name: 'What would be created' }).first()
    await side.getByText(/tables match/).waitFor()
    t.strictSame(await violationsOf(page), [])
    await page.getByLabel('How much to watch').selectOption('once')
    for (const kind of ['Row count', 'Freshness', 'Key columns'])
      await page.getByLabel(kind, { exact: true }).uncheck()
    await page.getByText('Choose at least one kind of check.').waitFor()
    await page.getByLabel('Row count', { exact: true }).check()
    await page.getByLabel('Key columns', { exact: true }).check()
    await page.getByLabel('Tables to watch').first().fill('a.b.c.d')
    await page.getByRole('button', { name: 'Watch these tables' }).click()
    await page.locator('.field .bad').getByText('must be table, schema.table').waitFor()
    await untilValue(page.getByLabel('Tables to watch').first(), 'a.b.c.d')
    await page.getByLabel('Tables to watch').first().fill('*.customers')
    await side.getByText('1 table match').waitFor()
    await side.getByText(/1 scan of tables/).waitFor()
    await page.getByRole('button', { name: 'Watch these tables' }).click()
    await page.getByText('Created 3 checks.').waitFor()
    await side.getByText('Nothing is new.').waitFor()
    t.strictSame(await violationsOf(page), [])
    const rules = await app.query(
      `select name from checks where kind = 'validity' and name like '%customers%' order by name`,
    )
    t.strictSame(rules, [{ name: 'NOT_NULL customers.id' }, { name: 'UNIQUE customers.id' }])

    await page.getByRole('link', { name: 'Give tables a freshness threshold' }).click()
    const bulk = page.getByRole('region', { name: 'Freshness by patterns' })
    await bulk.getByText(/would be created/).waitFor()
    await page.getByLabel('When it is late').selectOption('explicit')
    await page.getByLabel('Greatest age').fill('soon')
    await page.getByRole('button', { name: 'Create schedules' }).click()
    await page.locator('.field .bad').getByText('must be a duration').waitFor()
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('a table without a schedule gets one, which is tried, changed, paused and deleted', async t => {
    const { page, faults } = await openAs(tenant, tablePath(customers), wide)
    await page.getByText('No freshness schedule watches this table').waitFor()
    await page.getByLabel('Where the age is read from').selectOption('last_modified')
    await page.getByRole('button', { name: 'Watch freshness' }).click()
    await page.locator('.field .bad').getByText('does not report').waitFor()
    t.strictSame(await violationsOf(page), [])
    await page.getByLabel('Where the age is read from').selectOption('expression')
    await page.getByLabel('Expression', { exact: true }).fill('now()')
    await page.getByLabel('When it is late').selectOption('explicit')
    await page.getByRole('button', { name: 'Watch freshness' }).click()
    await page.getByText('Greatest age is needed.').waitFor()
    await page.getByLabel('Greatest age').fill('24h')
    await page
      .getByRole('region', { name: 'With this threshold' })
      .getByText('No stored checks yet.')
      .waitFor()
    await page.getByLabel('Expression', { exact: true }).fill(`timestamptz '2026-01-01'`)
    await page.getByRole('button', { name: 'Watch freshness' }).click()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Its schedule is paused.').waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await page.getByRole('button', { name: 'Change the schedule' }).click()
    await untilValue(page.getByLabel('Greatest age'), '24h')
    await page.getByLabel('Greatest age').fill('48h')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('48h').first().waitFor()
    t.strictSame(await violationsOf(page), [])
    await page.getByRole('button', { name: 'Delete the schedule' }).click()
    await page.locator('dialog').getByRole('button', { name: 'Delete the schedule' }).click()
    await page.getByText('No freshness schedule watches this table').waitFor()
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('the clock of the week has a text and a list', async t => {
    for (const size of [narrow, wide]) {
      const { page } = await openAs(tenant, tablePath(world.table), size)
      await page.getByRole('heading', { name: 'Clock of the week' }).waitFor()
      await page.getByRole('img', { name: /Updates by hour of the week/ }).waitFor()
      await page
        .getByText(/update on \w+day at \d\d:00|updates, most of them (on|at) .*\.|spread over/)
        .waitFor()
      await page.getByText('As a list').click()
      t.strictSame(await violationsOf(page), [])
      await page.context().close()
    }
  })

  t.test('the gaps between updates are drawn until now', async t => {
    for (const size of [narrow, wide]) {
      const { page, faults } = await openAs(tenant, tablePath(world.table), size)
      await page.getByRole('heading', { name: 'Time between updates' }).waitFor()
      await page
        .getByRole('img', { name: /Time between .* updates?/ })
        .or(page.getByText('No update was seen until now.'))
        .waitFor()
      await page.getByText('Age at each check').click()
      await ready(page)
      t.strictSame(await violationsOf(page), [])
      t.strictSame(faults, { errors: [], elsewhere: [] })
      await page.context().close()
    }
  })

  t.test('an operating schedule is drawn, written and removed', async t => {
    const { page, faults } = await openAs(tenant, '/schedules', wide)
    await ready(page)
    t.strictSame(await violationsOf(page), [])
    await page.getByRole('link', { name: 'Add a schedule' }).click()
    const cell = (name: string) => page.getByRole('gridcell', { name: new RegExp(`^${name},`) })
    t.equal(await cell('Monday 08:00').getAttribute('aria-selected'), 'true')
    await cell('Sunday 10:00').click()
    t.equal(await cell('Sunday 10:00').getAttribute('aria-selected'), 'true')
    const [from, to] = [
      await cell('Saturday 10:00').boundingBox(),
      await cell('Saturday 12:00').boundingBox(),
    ]
    await page.mouse.move(from!.x + 5, from!.y + 5)
    await page.mouse.down()
    await page.mouse.move(to!.x + 5, to!.y + 5, { steps: 12 })
    await page.mouse.up()
    for (const hour of ['10', '11', '12'])
      t.equal(await cell(`Saturday ${hour}:00`).getAttribute('aria-selected'), 'true', `dragged over ${hour}`)
    await cell('Saturday 12:00').focus()
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Space')
    t.equal(await cell('Saturday 13:00').getAttribute('aria-selected'), 'true')
    t.equal(await cell('Saturday 14:00').getAttribute('aria-selected'), 'true')
    await page.getByLabel('Start').first().fill('08:30')
    await page.getByLabel('Start').first().blur()
    t.match(await cell('Monday 08:00').getAttribute('aria-label'), /partly active/)
    await page.getByLabel('End').first().fill('25:00')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The end must be a time from 00:00 to 24:00.').waitFor()
    t.strictSame(await violationsOf(page), [])
    await page.getByLabel('End').first().fill('18:00')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Name is needed.').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Office')
    await page.getByLabel('Time zone').selectOption('Europe/Berlin')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'Office' }).click()
    await page.getByText('Nothing uses it.').waitFor()
    const [stored] = await app.query(`select timezone, rules from operating_schedules where name = 'Office'`)
    t.match(stored, {
      timezone: 'Europe/Berlin',
      rules: [
        { days: [1, 2, 3, 4, 5], start: '08:30', end: '18:00' },
        { days: [6], start: '10:00', end: '15:00' },
        { days: [7], start: '10:00', end: '11:00' },
      ],
    })
    await page.setViewportSize(narrow.viewport)
    t.strictSame(await violationsOf(page), [])
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('a viewer reads, and changes nothing', async t => {
    await app.query(`update users set role = 'viewer' where company_id = $1`, [tenant.companyId])
    const { page } = await openAs(tenant, '/schedules', narrow)
    await page.getByRole('link', { name: 'Office' }).click()
    await page.getByText('Only members, admins and owners change schedules.').waitFor()
    t.equal(await page.locator('#main button').count(), 0)
    await page.getByRole('gridcell', { name: /^Monday 09:00/ }).click()
    t.equal(await page.getByRole('gridcell', { name: /^Monday 09:00/ }).getAttribute('aria-selected'), 'true')
    t.strictSame(await violationsOf(page), [])
    await page.goto(stage.origin + sourcePath)
    await page.getByText('Only members, admins and owners choose what is watched.').waitFor()
    await page.goto(stage.origin + tablePath(customers))
    await page.getByText('No freshness schedule watches this table').waitFor()
    t.equal(await page.locator('#main form').count(), 0)
    t.strictSame(await violationsOf(page), [])
    await page.context().close()
  })
}
