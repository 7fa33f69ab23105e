/**
 * How long it takes to list the recommendations of a source of many tables, to watch all of them, and to apply a monitors
 * file of many checks: `npm run bench:watch -- [--tables 20000] [--checks 3000] [--only list,watch,apply] [--json]`.
 */
import { parseArgs } from 'node:util'
import { startServer, type Tenant, type TestServer } from '../helpers/server.ts'
import { startSource } from '../helpers/source.ts'
import { discover } from '../helpers/world.ts'
import { applyJob } from '../../plugins/recommendations/watch/jobs.ts'
import { median, printRows, withTeardown, type BenchRow, type Teardown } from './rows.ts'
import { fillSource } from './watch-world.ts'

const { values: given } = parseArgs({
  options: {
    tables: { type: 'string', default: '20000' },
    checks: { type: 'string', default: '3000' },
    only: { type: 'string', default: 'list,watch,apply' },
    json: { type: 'boolean', default: false },
  },
})
const tables = Number(given.tables)
const PAGES = 5
const CHECKS_OF_TABLE = 10
/** An address that no database listens at: nothing here asks it. */
const NOWHERE = { host: '127.0.0.1', port: 9, database: 'shop', username: 'reader', sslmode: 'disable' }

const rows: BenchRow[] = []
function report(what: string, ours: number, unit = 'ms'): void {
  console.log(`${what}: ${Math.round(ours)} ${unit}`)
  rows.push({ what, ours, unit })
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now()
  const result = await work()
  report(what, performance.now() - startedAt)
  return result
}

await withTeardown(async t => {
  const only = new Set(given.only.split(','))
  const app = await startServer(t, { settings: { STATEMENT_TIMEOUT: '60' } })
  const tenant = await app.signUp()
  if (only.has('list')) await measureList(app, tenant)
  if (only.has('watch')) await measureWatch(app, tenant)
  if (only.has('apply')) await measureApply(t, app, tenant)
  printRows(rows)
})

async function askFor(tenant: Tenant, method: 'GET' | 'POST', path: string, body?: object) {
  const reply = await tenant.ask(method, `/api/v1/sdk${path}`, body)
  if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
  return reply
}

async function measureList(app: TestServer, tenant: Tenant): Promise<void> {
  const sourceId = await fillSource(app, tenant, {
    name: 'listed',
    tables,
    hasProfiles: true,
    config: NOWHERE,
  })
  const list = async (more: string) =>
    (await askFor(tenant, 'GET', `/recommendations?asset_id=${sourceId}${more}`)).body.data
  const what = `a page of the recommendations of ${tables} tables`
  await timed(`${what}, the first one`, () => list(''))
  const startedAt = performance.now()
  while ((await list('&limit=1')).uncounted_tables > 0) await new Promise(resolve => setTimeout(resolve, 500))
  report('all tables counted in the background', performance.now() - startedAt)
  const middle = Math.floor((await list('')).pagination.total / 2)
  for (const [name, query] of [
    ['', '&limit=50'],
    [', in the middle', `&limit=50&offset=${middle}`],
    [', filtered', '&limit=50&kind=validity&min_confidence=0.8'],
  ]) {
    const times: number[] = []
    for (let n = 0; n < PAGES; n += 1) {
      const at = performance.now()
      await list(query!)
      times.push(performance.now() - at)
    }
    report(`${what}${name}`, median(times))
  }
  for (const kind of ['freshness', 'metrics'])
    await timed(`recommendations/${kind} of ${tables} tables`, () =>
      askFor(tenant, 'GET', `/recommendations/${kind}?asset_id=${sourceId}`),
    )
  await timed(`a dry run of a level for ${tables} tables`, () =>
    askFor(tenant, 'POST', `/assets/${sourceId}/watch`, { level: 'standard', dry_run: true }),
  )
}

async function measureWatch(app: TestServer, tenant: Tenant): Promise<void> {
  const sourceId = await fillSource(app, tenant, {
    name: 'watched',
    tables,
    hasProfiles: false,
    config: NOWHERE,
  })
  const settled = app.server.jobs.settled(applyJob, data => data.source_id === sourceId)
  const startedAt = performance.now()
  const reply = await timed(`the answer to watching ${tables} tables`, () =>
    askFor(tenant, 'POST', `/assets/${sourceId}/watch`, { level: 'light' }),
  )
  if (reply.status === 202) await settled
  report(`watching ${tables} tables`, performance.now() - startedAt)
  await app.query(`update sources set last_discovery_at = now() where id = $1`, [sourceId])
  await timed(`the policy of ${tables} tables again, of which none changed`, () =>
    applyJob.work({ company_id: tenant.companyId, source_id: sourceId }, {
      server: app.server,
      signal: new AbortController().signal,
      attempt: 1,
    } as never),
  )
}

async function measureApply(t: Teardown, app: TestServer, tenant: Tenant): Promise<void> {
  const { config, query } = await startSource(t)
  const { password, ...open } = config
  const count = Math.ceil(Number(given.checks) / CHECKS_OF_TABLE)
  const columns = Array.from({ length: CHECKS_OF_TABLE }, (_, n) => `column_${n} text`).join(', ')
  for (let n = 0; n < count; n += 1) await query(`create table events_${n} (id int primary key, ${columns})`)
  const made = await askFor(tenant, 'POST', '/assets', {
    ...{ name: 'declared', source_type: 'postgresql', connection_config: { ...open, password } },
  })
  const { id } = made.body.data as { id: string }
  await discover({ app, tenant, asset: { id } })
  const ofTable = (n: number) => ({
    checks: {
      validity: Array.from({ length: CHECKS_OF_TABLE }, (_, c) => ({
        ...{
          key: `events_${n}.column_${c}`,
          rule_type: c % 2 === 0 ? 'REGEX' : 'NOT_NULL',
          column_name: `column_${c}`,
        },
        ...(c % 2 === 0 && { rule_config: { pattern: '^[a-z]+$' } }),
      })),
    },
  })
  const content = {
    version: 1,
    source: 'declared',
    tables: Object.fromEntries(Array.from({ length: count }, (_, n) => [`public.events_${n}`, ofTable(n)])),
  }
  const body = { files: [{ name: 'monitors.yaml', content }] }
  const what = `${count * CHECKS_OF_TABLE} checks of a monitors file`
  await timed(`${what}, created`, () => askFor(tenant, 'POST', `/monitors/${id}/apply`, body))
  await timed(`${what}, applied again`, () => askFor(tenant, 'POST', `/monitors/${id}/apply`, body))
}
