import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startStage, type Stage } from './stage.ts'

const stage = await startStage(t)
if (stage) await operate(stage)

async function operate({ app, world, openAs, ready, violationsOf }: Stage) {
  const { tenant } = world
  const [table] = (await tenant.ask('GET', '/api/v1/assets?asset_type=table&search=orders')).body.data

  /** A job that failed for good, as the engine leaves it. */
  const die = (queue: string, data: object) =>
    app.query(
      `insert into pgboss.job (id, name, data, source_name, source_retry_count, source_output, keep_until)
       values ($1, 'jobs.dead', $2, $3, 2, '{"message": "no answer <b>within</b> 60 s"}', now() + interval '1 day')`,
      [randomUUID(), { company_id: tenant.companyId, ...data }, queue],
    )

  t.test('an admin sends jobs that failed for good again, or discards them', async t => {
    await die('scans.run', { table_id: table.id })
    await die('freshness.check', { source_id: table.source_id ?? table.parent_id ?? randomUUID() })
    await die('catalog.discover', { run_id: randomUUID() })
    const { page, faults } = await openAs(tenant, '/settings/operations')
    await ready(page)
    await page.getByRole('heading', { name: '3 jobs failed for good' }).waitFor()
    await page.getByText(/^Tidemark .*, Node .*, PostgreSQL/).waitFor()
    t.equal(await page.getByText('no answer <b>within</b> 60 s').count(), 3)
    t.strictSame(await violationsOf(page), [])

    await page.getByRole('button', { name: `Send again: ${table.qualified_name}` }).click()
    await page.getByText('1 job sent again.').waitFor()
    await page.getByRole('heading', { name: '2 jobs failed for good' }).waitFor()

    await page.getByRole('button', { name: 'Discard: catalog.discover' }).click()
    const dialog = page.locator('dialog[open]')
    t.strictSame(await violationsOf(page), [])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Discard all' }).click()
    await dialog.getByRole('button', { name: 'Discard' }).click()
    await page.getByText('2 jobs discarded.').waitFor()
    await page.getByText('No job failed for good.').waitFor()
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })
}
