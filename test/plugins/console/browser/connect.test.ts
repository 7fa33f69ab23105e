/** How tools are connected, and checks as code, in Chromium. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import t from 'tap'
import { startStage, type Stage } from './stage.ts'

const stage = await startStage(t)
if (stage) {
  connectTools(stage)
  readChecksAsCode(stage)
  fillInSources(stage)
}

const run = promisify(execFile)

function connectTools({ app, world, origin, openAs, ready, violationsOf }: Stage) {
  t.test('a key is created into the snippets, and what they send appears by itself', async t => {
    const { page, faults } = await openAs(world.tenant, '/connect?tab=openlineage')
    await ready(page)
    await page.getByRole('heading', { name: 'Send the lineage of your pipelines' }).waitFor()
    await page.getByText('Nothing has arrived from OpenLineage yet.').waitFor()
    const snippet = page.getByRole('region', { name: /send an event yourself/ })
    t.match(await snippet.innerText(), `curl -s ${origin}/api/v1/lineage`)
    t.match(await snippet.innerText(), 'Bearer YOUR_KEY')
    await page.getByRole('button', { name: 'Create a key' }).click()
    const dialog = page.locator('dialog[open]')
    await dialog.getByText('Its scope is read-write').waitFor()
    t.strictSame(await violationsOf(page), [])
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByText('The key OpenLineage is in the snippets now.').waitFor()
    const code = (await snippet.textContent())!
    t.notMatch(code, 'YOUR_KEY')
    const { stdout } = await run('bash', ['-c', code])
    t.match(JSON.parse(stdout), { data: { outside: 2, edges: 1 } })
    await page.getByText('1 tool sends lineage').waitFor({ timeout: 30_000 })
    await page.locator('.feeds', { hasText: '1 run of 1 job · 1 edge' }).waitFor()
    t.strictSame(await violationsOf(page), [])
    await page.reload()
    await ready(page)
    t.match(await snippet.textContent(), 'Bearer YOUR_KEY', 'the key is shown once')
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('a failed run is named with its error, and a namespace is mapped to a source', async t => {
    const failed = {
      ...{ eventType: 'FAIL', eventTime: new Date().toISOString() },
      producer: 'https://github.com/apache/airflow/tree/providers-openlineage/2.7.3',
      run: {
        runId: '7d9a3c52-6f0e-4b1d-9a57-2c8e41f0b6d4',
        facets: { errorMessage: { message: 'no such file', programmingLanguage: 'PYTHON' } },
      },
      job: { namespace: 'airflow', name: 'shop.load' },
      outputs: [{ namespace: 'lake', name: 'orders' }],
    }
    t.equal((await app.ask('POST', '/api/v1/lineage', failed, world.tenant.key)).status, 201)
    const { page } = await openAs(world.tenant, '/connect?tab=airflow', {
      viewport: { width: 360, height: 800 },
    })
    await ready(page)
    await page
      .locator('.feeds', { hasText: 'Last failed run: shop.load' })
      .getByText('no such file')
      .waitFor()
    await page.getByRole('button', { name: 'Map to a source: lake' }).click()
    await page.locator('dialog[open]').getByRole('button', { name: 'Map', exact: true }).click()
    await page.getByText('The namespace is mapped.').waitFor()
    await page.getByRole('button', { name: 'Map to a source: lake' }).waitFor({ state: 'detached' })
    await page.context().close()
  })

  t.test('who may not create a key reads whom to ask, and the palette leads to the screen', async t => {
    await app.query(`update users set role = 'viewer' where email = $1`, [world.tenant.email])
    const { page } = await openAs(world.tenant)
    await ready(page)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('connect')
    await page.getByRole('option', { name: /Connect/ }).click()
    await page.getByText('Ask an admin for an API key').waitFor()
    t.equal(await page.getByRole('button', { name: 'Create a key' }).count(), 0)
    await page.context().close()
    await app.query(`update users set role = 'owner' where email = $1`, [world.tenant.email])
  })
}

function readChecksAsCode({ app, world, openAs, ready, violationsOf }: Stage) {
  const monitors = `/api/v1/sdk/monitors/${world.source}`
  const ask = (method: 'GET' | 'POST', path: string, body?: object) =>
    app.ask(method, path, body, world.tenant.key)
  const health = `/tables/${encodeURIComponent(world.table)}?check=${world.metricId}`

  t.test('the file of a check is shown, and applying it changes nothing', async t => {
    const { page, faults } = await openAs(world.tenant, health)
    await ready(page)
    await page.getByRole('button', { name: 'As code' }).click()
    const code = (await page.getByRole('region', { name: 'Monitors file' }).textContent())!
    t.match(code, /^# yaml-language-server[\s\S]*metric_type: /)
    t.strictSame(await violationsOf(page), [])
    const files = [{ name: 'monitors/orders.yml', content: code }]
    const planned = await ask('POST', `${monitors}/plan`, { files })
    t.match(planned.body.data, { create: 0, change: 0, replace: 0, adopt: 1 })
    t.equal((await ask('POST', `${monitors}/apply`, { files })).status, 200)
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })

  t.test('lists and the panel of a check say which file manages it', async t => {
    const { page } = await openAs(world.tenant, '/checks')
    await ready(page)
    await page.getByText('managed by orders.yml').first().waitFor()
    await page.goto(new URL(health, page.url()).href)
    await ready(page)
    await page.getByText('Managed by monitors/orders.yml').waitFor()
    await page.context().close()
  })

  t.test('a source is exported as a file that the server takes as it is', async t => {
    const { page } = await openAs(world.tenant, `/sources/${world.source}`)
    await ready(page)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export as code' }).click(),
    ])
    t.match(download.suggestedFilename(), /\.yaml$/)
    const content = await readFile(await download.path(), 'utf8')
    const planned = await ask('POST', `${monitors}/plan`, { files: [{ name: 'all.yaml', content }] })
    t.match(planned.body.data, { create: 0, change: 0, replace: 0 })
    await page.context().close()
  })
}

function fillInSources({ world, openAs, ready, untilValue, violationsOf }: Stage) {
  t.test('a pasted connection URL fills in the fields, and its password is not shown', async t => {
    const { page, faults } = await openAs(world.tenant, '/sources?add=postgresql')
    await ready(page)
    const url = page.getByLabel('Paste a connection URL')
    await url.fill('mysql://db/shop')
    await page.keyboard.press('Enter')
    await page.getByText('An address of mysql is for another engine.').waitFor()
    await url.fill('postgres://ada:p%40ss@db.example.com:6432/sales')
    await page.keyboard.press('Enter')
    await untilValue(page.getByLabel('Host'), 'db.example.com')
    await untilValue(page.getByLabel('Port'), '6432')
    await untilValue(page.getByLabel('Username'), 'ada')
    await untilValue(page.locator('[name="connection_config.password"]'), 'p@ss')
    await untilValue(url, '')
    t.notMatch(await page.locator('#main').innerText(), 'p@ss')
    await page.getByText('Read-only user: a script to create one').click()
    const script = await page.getByRole('region', { name: /^Read-only user/ }).innerText()
    t.match(script, /create role ada [^]*grant connect on database sales to ada;/)
    t.strictSame(await violationsOf(page), [])
    t.strictSame(faults, { errors: [], elsewhere: [] })
    await page.context().close()
  })
}
