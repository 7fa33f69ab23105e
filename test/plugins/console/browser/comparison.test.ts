/** A comparison of two sources is tried, made, run and looked at in Chromium. */
import type { Page } from 'playwright-core'
import t from 'tap'
import { discoverJob } from '../../../../plugins/catalog/discovery/jobs.ts'
import { startSource } from '../../../helpers/source.ts'
import { startStage, type Stage } from './stage.ts'

const stage = await startStage(t)
if (stage) await tryComparisons(stage)

async function tryComparisons({ app, world, openAs, ready, violationsOf }: Stage) {
  const { tenant } = world
  const table = `/tables/${encodeURIComponent(world.table)}`
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
  const open = async (query: string, options = {}) => {
    const opened = await openAs(tenant, table + query, options)
    await ready(opened.page)
    return opened
  }

  /** A copy of the orders of which six rows differ: two are missing, one is new, three have other values. */
  const copy = await startSource(t)
  for (const statement of [
    `create table orders (order_id int primary key, email text, total numeric(10,2), status text, created_at timestamptz)`,
    `insert into orders select n, case when n % 9 = 0 then null else n || '@example.com' end, n, 'paid', now()
     from generate_series(1, 500) n where n not in (7, 8)`,
    `update orders set total = total + 0.5 where order_id in (20, 21)`,
    `update orders set email = 'other@example.com' where order_id = 26`,
    `insert into orders values (901, null, 1, 'new', now())`,
  ])
    await copy.query(statement)
  const made = await tenant.ask('POST', '/api/v1/sdk/assets', {
    ...{ name: 'warehouse', source_type: 'postgresql', connection_config: copy.config },
  })
  const { body } = await tenant.ask('POST', `/api/v1/sdk/assets/${made.body.data.id}/discover`)
  await app.server.jobs.settled(discoverJob, data => data.run_id === body.data.job_id)
  await tenant.ask('POST', '/api/v1/sdk/tags', {
    ...{ asset_id: 'shop', name: 'pii', object_path: 'public.orders.email', object_type: 'column' },
  })
  const path = `/api/v1/sdk/comparisons/${encodeURIComponent(world.table)}`
  const newComparison = {
    ...{ table_path: 'public.orders', right_source: 'warehouse', right_table_path: 'public.orders' },
    key_columns: [{ left: 'id', right: 'order_id' }],
    columns: ['total', 'email'],
    name: 'The warehouse has all orders',
  }

  t.test('it is offered with the primary key as its key, tried, and made', async t => {
    const { page, faults } = await open('?add')
    await page.getByRole('link', { name: /^Comparison/ }).click()
    t.ok(await page.locator('[name=key_columns][value=id]').isChecked(), 'the key is proposed')
    await page.getByLabel('Other source').selectOption('warehouse')
    await page.getByLabel('Other table', { exact: true }).fill('public.orders')
    await page.getByLabel('Column of the other table for id').selectOption('order_id')
    await page.locator('[name=columns][value=total]').check()
    await page.getByLabel('When values of total count as equal').selectOption('at most so far apart')
    await page.getByLabel('Number of the rule of total').fill('0.1')
    await page.locator('[name=columns][value=email]').check()
    await button(page, 'Try it').click()
    await page.getByText('orders: 6 of 501 rows differ: 2 only in shop, 1 only in warehouse').waitFor()
    t.match(await page.locator('.preview .now').innerText(), /would fail/)
    const rows = page.locator('.preview .differing tbody tr')
    t.equal(await rows.count(), 6)
    t.match(await rows.filter({ hasText: '26' }).innerText(), /email\s+•••\s+•••/)
    t.equal(await rows.filter({ hasText: '20' }).locator('td.differs').count(), 2, 'both values are marked')
    await page.getByText('Personal data is shown as •••.').waitFor()
    const sent = page.waitForResponse(reply => reply.request().method() === 'POST' && reply.status() === 201)
    await button(page, 'Create check').click()
    t.match(await (await sent).json(), {
      data: {
        ...{ right_source: 'warehouse', level: 'rows' },
        key_columns: [{ left: 'id', right: 'order_id' }],
        columns: [{ left: 'total', right: 'total', tolerance: 0.1 }, { left: 'email' }],
      },
    })
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('levels ask for their own fields, and what the server refuses stands beside its field', async t => {
    const { page } = await open('?add=comparison')
    const fields = () =>
      page.locator('form [name]').evaluateAll(all => [...new Set(all.map(each => each.getAttribute('name')))])
    t.notOk((await fields()).includes('group_by_columns'))
    await page.getByLabel('What is compared').selectOption('counts')
    const ofCounts = await fields()
    t.ok(ofCounts.includes('group_by_columns') && ofCounts.includes('max_differing_rows'))
    t.notOk(ofCounts.includes('key_columns') || ofCounts.includes('columns'))
    await page.getByLabel('What is compared').selectOption('aggregates')
    t.notOk((await fields()).includes('max_differing_rows'))
    await page.getByLabel('Other table', { exact: true }).fill('public.nothing')
    await button(page, 'Try it').click()
    await page.locator('[name=right_table_path][aria-invalid=true]').waitFor()
    const { key_columns: _keys, ...aggregates } = { ...newComparison, level: 'aggregates' }
    const { id } = (await tenant.ask('POST', path, aggregates)).body.data
    await page.goto(`${new URL(page.url()).origin}${table}?edit=${id}`)
    await page.locator('form [name=severity]').waitFor()
    t.notOk((await fields()).includes('max_differing_rows'), 'nor can they be changed later')
    await page.context().close()
  })

  t.test('its numbers stand side by side, and after a run the rows that differ', async t => {
    const { id } = (await tenant.ask('POST', path, newComparison)).body.data
    const { page } = await open(`?check=${id}`)
    await page.getByText('It has not run yet.').waitFor()
    await button(page, 'Run now').click()
    await page.locator('.comparison .sides').waitFor()
    t.strictSame(
      await page
        .locator('.comparison .sides tr')
        .evaluateAll(rows =>
          rows.slice(1).map(row => [...row.children].map(({ textContent }) => textContent)),
        ),
      [
        ['Rows', '500', '499'],
        ['Only here', '2', '1'],
        ['With other values', '3'],
      ],
    )
    t.match(await page.locator('.comparison .bars').innerText(), /total\s+2\s+email\s+1/)
    t.match(await page.locator('.comparison .differing tbody').innerText(), /20\s+total\s+20\s+20\.5/)
    await page.locator('.opened .readout').waitFor()
    t.equal(await page.locator('.plot').count(), 0, 'one value needs no axis of time')
    await page.reload()
    await ready(page)
    await page.getByText('The rows are not kept. A new run shows').waitFor()
    await page.context().close()
  })

  /** The address of the alert about a new comparison, which has run. */
  async function raiseAlert(level = 'rows') {
    const { key_columns: keys, ...others } = newComparison
    const body = level === 'rows' ? newComparison : { ...others, level }
    const { id } = (await tenant.ask('POST', path, body)).body.data
    await tenant.ask('POST', `${path}/${id}/execute`, {})
    const { data } = (await tenant.ask('GET', `/api/v1/sdk/alerts?event_type=comparison_failure`)).body.data
    return `/alerts/${data.find(({ rule_id: rule }: { rule_id: string }) => rule === id).id}`
  }

  t.test(
    'its alert shows the numbers of both sides, and the rows that differ once it is compared',
    async t => {
      const { page, faults } = await openAs(tenant, await raiseAlert())
      await page.locator('.comparison .sides').waitFor()
      t.match(await page.locator('.comparison .sides').innerText(), /Only here\s+2\s+1/)
      t.match(await page.locator('.comparison .bars').innerText(), /total\s+2\s+email\s+1/)
      t.equal(await page.locator('.comparison .differing').count(), 0, 'rows are not kept')
      await button(page, 'Compare now').click()
      const rows = page.locator('.comparison .differing tbody tr')
      await rows.first().waitFor()
      t.match(await rows.filter({ hasText: '20.5' }).innerText(), /20\s+total\s+20\s+20\.5/)
      t.match(await rows.filter({ hasText: 'email' }).innerText(), /26\s+email\s+•••\s+•••/)
      await page.locator('.readout').waitFor()
      t.strictSame(faults, { errors: [], elsewhere: [] })
      await page.context().close()
    },
  )

  t.test('an alert about aggregates shows those that differ, by the names of the sources', async t => {
    const { page } = await openAs(tenant, await raiseAlert('aggregates'))
    const table = page.locator('.comparison .differing')
    await table.waitFor()
    t.match(await table.locator('thead').innerText(), /Aggregate\s+shop\s+warehouse/)
    t.match(await table.innerText(), /sum of total/)
    await page.context().close()
  })

  t.test('a viewer reads the numbers of an alert and starts no comparison', async t => {
    const address = await raiseAlert()
    await app.query(`update users set role = 'viewer' where email = $1`, [tenant.email])
    t.teardown(() => app.query(`update users set role = 'admin' where email = $1`, [tenant.email]))
    const { page } = await openAs(tenant, address)
    await page.locator('.comparison .sides').waitFor()
    t.equal(await button(page, 'Compare now').count(), 0)
    await page.context().close()
  })

  for (const width of [360, 1280])
    for (const colorScheme of ['light', 'dark'] as const)
      t.test(`form, result and alert fit ${width} px in ${colorScheme} and are accessible`, async t => {
        const { id } = (await tenant.ask('POST', path, newComparison)).body.data
        const { page, faults } = await open('?add=comparison', {
          viewport: { width, height: 900 },
          colorScheme,
        })
        const fits = async (what: string) => {
          t.equal(await page.evaluate('document.documentElement.scrollWidth'), width, `${what} fits`)
          t.strictSame(await violationsOf(page), [], what)
        }
        await page.getByLabel('Other source').selectOption('warehouse')
        await page.getByLabel('Other table', { exact: true }).fill('public.orders')
        await page.getByLabel('Column of the other table for id').selectOption('order_id')
        await page.locator('[name=columns][value=total]').check()
        await page.getByLabel('When values of total count as equal').selectOption('rounded to digits')
        await button(page, 'Try it').click()
        await page.locator('.preview .differing').waitFor()
        await fits('form')
        await page.goto(`${new URL(page.url()).origin}${table}?check=${id}`)
        await ready(page)
        await button(page, 'Run now').click()
        await page.locator('.comparison .differing').waitFor()
        await page.locator('.opened .readout').waitFor()
        await fits('result')
        t.ok((await page.locator('.sides thead').boundingBox())!.height > 16, 'which source is which')
        await page.goto(`${new URL(page.url()).origin}${table}?edit=${id}`)
        await page.locator('dl.facts').first().waitFor()
        await fits('edit')
        await page.goto(new URL(await raiseAlert(), page.url()).href)
        await button(page, 'Compare now').click()
        await page.locator('.comparison .differing').waitFor()
        await page.locator('.readout').waitFor()
        await fits('alert')
        t.strictSame(faults, { errors: [], elsewhere: [] })
        await page.context().close()
      })
}
