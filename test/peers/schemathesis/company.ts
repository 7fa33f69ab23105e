import { createHmac, randomUUID } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { accessTokenKey } from '../../../plugins/auth/sign-in/tokens.ts'
import { moduleAddress } from '../../../plugins/console/modules.ts'
import { discoverJob } from '../../../plugins/catalog/discovery/jobs.ts'
import { exportJob } from '../../../plugins/contracts/exchange/export-job.ts'
import { profileJob } from '../../../plugins/profiles/job.ts'
import type { OpenApiDocument } from '../../../server/openapi/document.ts'
import { event, PARAMETERS, ROUTES, type Classified, type Kind } from '../../plugins/auth/matrix-routes.ts'
import {
  holdLimits,
  makeHolding,
  PASSWORD,
  saveRows,
  SHOP,
  type Holding,
} from '../../plugins/auth/matrix-world.ts'
import { SECRET_KEY, type TestServer } from '../../helpers/server.ts'
import { startSource } from '../../helpers/source.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** A request of an operation that succeeds, with any of its paths and bodies. */
export interface Recipe {
  paths: Record<string, string>[]
  query: Record<string, string>
  headers: Record<string, string>
  bodies: object[]
}

/** A company with one of everything, and how to ask for it. */
export interface Company {
  /** An API key of scope admin. */
  key: string
  /** An access token of an admin, good for two hours. */
  token: string
  /** By method and path of the document. */
  recipes: Record<string, Recipe>
  /** Values that exist, by the names of parameters and fields. */
  values: Record<string, string[]>
  /** Waits for jobs, and puts every row back as it was. */
  restore(): Promise<void>
}

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0'
const TOKEN_SECONDS = 7_200
const QUEUE = 'scans.run'
const MORE = [
  `insert into customers select n, 'c' || n || '@example.com', now() - n * interval '1 hour' from generate_series(2, 60) n`,
  `insert into orders select n, n, now() - n * interval '1 hour' from generate_series(2, 90) n`,
]

/**
 * Makes the company on a server whose jobs run: a discovered source, checks of every kind with results, alerts, and
 * what else has an id. The server must have the demo and the provider github.
 */
export async function makeCompany(
  t: Teardown,
  app: TestServer,
  document: OpenApiDocument,
  receiver: string,
): Promise<Company> {
  const source = await startSource(t)
  for (const statement of [...SHOP, ...MORE]) await source.query(statement)
  await app.server.plugins.demo.runDemo(() => undefined)
  await holdLimits(app)
  const holding = await makeHolding(app, 'Ours', source)
  const owner = await signInAdmin(app, holding)
  const found = await deepen(app, holding, receiver)
  const deadJob = randomUUID()
  const reviveDeadJob = () => addDeadJob(app, holding, deadJob)
  await untilIdle(app)
  await reviveDeadJob()
  const tokens = await issueTokens(app, holding, owner.id)
  const putBack = await saveRows(app)
  const own = ownRecipes(holding, owner, { ...found, ...tokens, deadJob })
  return {
    key: holding.credentials['admin key'],
    token: owner.token,
    recipes: Object.fromEntries(
      Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.keys(methods).map(method => {
          const name = `${method.toUpperCase()} ${path}`
          return [name, { ...recipeOf(name, holding), ...own[name] }]
        }),
      ),
    ),
    values: valuesOf(holding, owner.email),
    async restore() {
      await untilIdle(app)
      await putBack()
      await reviveDeadJob()
    },
  }
}

/** Ends waiting jobs, and waits for those that run: they would write about what is removed. */
async function untilIdle({ query }: TestServer): Promise<void> {
  await query(`delete from pgboss.job where state <> 'active'`)
  const running = `select from pgboss.job where state = 'active' limit 1`
  while ((await query(running)).length > 0) await new Promise(done => setTimeout(done, 20))
}

async function addDeadJob({ query }: TestServer, { companyId, ids }: Holding, id: string): Promise<void> {
  await query(
    `insert into pgboss.job (id, name, data, source_name, source_retry_count, source_output, keep_until)
     values ($1, 'jobs.dead', $2, $3, 2, '{"message": "no answer within 60 s"}', now() + interval '1 day')`,
    [id, { company_id: companyId, table_id: ids.table }, QUEUE],
  )
}

/** An admin with a password and a linked provider, and a token that lasts as long as a run. */
async function signInAdmin(app: TestServer, { companyId }: Holding) {
  const { auth } = app.server.plugins
  const email = 'admin@example.com'
  const { id } = await auth.createUser({ companyId, email, password: PASSWORD, role: 'admin' })
  await app.query(
    `insert into identities (issuer, subject, company_id, user_id, provider)
     values ('https://github.com/login/oauth', cast($1 as uuid)::text, $2, $1, 'github')`,
    [id, companyId],
  )
  const { body } = await app.ask('POST', '/api/v1/auth/login', { email, password: PASSWORD })
  const { header, payload } = jwt.decode(body.access_token as string, { complete: true })!
  const { exp: _exp, iat: _iat, ...claims } = payload as jwt.JwtPayload
  const token = jwt.sign(claims, accessTokenKey(app.server.vault), { header, expiresIn: TOKEN_SECONDS })
  return { id: String(id), email, token, refreshToken: String(body.refresh_token) }
}

/** Tokens that are exchanged once: the rows of which are put back. */
async function issueTokens({ server }: TestServer, { companyId }: Holding, userId: string) {
  const { auth } = server.plugins
  const ticket = await auth.issueTicket({ companyId, userId, method: 'test', seconds: TOKEN_SECONDS })
  const { token } = await auth.createProspect({ email: 'guest@example.com' })
  return { ticket, magic: token }
}

/** Runs what the company has once, so that lists and replies are not empty. */
async function deepen(app: TestServer, { ids, credentials }: Holding, receiver: string) {
  const ask = async (method: string, path: string, body?: object) => {
    const reply = await app.ask(method, `/api/v1${path}`, body, credentials.owner)
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(reply.body)}`)
    return reply.body.data
  }
  await ask('PATCH', `/sdk/alerts/destinations/${ids.destination}`, { config: { url: `${receiver}/hook` } })
  const { job_id: job } = await ask('POST', `/sdk/assets/${ids.source}/discover`)
  await app.server.jobs.settled(discoverJob, ({ run_id: id }) => id === job)
  await ask('POST', `/sdk/validity/${ids.table}/${ids.rule}/check`, {})
  for (let time = 0; time < 3; time++)
    await ask('POST', `/sdk/metrics/${ids.table}/${ids.metric}/capture`, {})
  await ask('POST', `/sdk/referential/${ids.table}/${ids.check}/execute`, {})
  await ask('POST', `/sdk/freshness/${ids.table}/refresh`)
  await ask('POST', `/sdk/schema/${ids.source}/baseline`, {})
  await ask('POST', `/sdk/schema/${ids.source}/monitoring`, {})
  await ask('POST', `/sdk/assets/${ids.source}/watch`, { level: 'light' })
  await ask('POST', '/sdk/alerts/investigations/explain', { asset_id: ids.table })
  const link = await ask('POST', '/sdk/chart-links', { asset_id: ids.table, check_id: ids.metric })
  const badge = await ask('GET', `/sdk/badges/${ids.badge}`)
  const contract = await ask('GET', `/sdk/contracts/${ids.contract}`)
  await ask('POST', '/lineage', { ...event(), ...datasets(receiver) })
  await ask('POST', `/sdk/assets/${ids.table}/profile`, {})
  await app.server.jobs.settled(profileJob, () => true)
  const { job_id: exported } = await ask('POST', '/contracts/export-jobs', { scope: 'all' })
  await app.server.jobs.settled(exportJob, ({ export_id: id }) => id === exported)
  ids.contractExport = String(exported)
  const { recommendations } = await ask('GET', `/sdk/recommendations?asset_id=${ids.source}`)
  ids.recommendation = String(recommendations[0].id)
  const config = { url: `${receiver}/other` }
  const destination = { name: 'Second', destination_type: 'webhook', config }
  const { id: second } = await ask('POST', '/sdk/alerts/destinations', destination)
  await ask('POST', `/sdk/alerts/rules/${ids.alertRule}/destinations`, { destination_ids: [second] })
  return {
    destination: String(second),
    chart: String(link.url).split('/').at(-1)!,
    badge: String(badge.public_id),
    contract: String(contract.badge_url).split('/').at(-1)!.replace('.svg', ''),
  }
}

const datasets = (namespace: string) => ({
  inputs: [{ namespace, name: 'raw.orders' }],
  outputs: [{ namespace, name: 'clean.orders' }],
})

/** The good request of the access matrix, for its path of the document. */
function recipeOf(name: string, { ids }: Holding): Recipe {
  const row = Object.entries(ROUTES).find(([route]) => route.replaceAll(/[?*]\}/g, '}') === name)?.[1]
  if (!row) return { paths: [{}], query: {}, headers: {}, bodies: [] }
  const id = (kind: Kind) => ids[kind]
  return {
    paths: pathsOf(name, row, ids),
    query: row.query?.(id) ?? {},
    headers: {},
    bodies: row.body ? [row.body(id)] : [],
  }
}

/** The ids of a path: those of the matrix most of the time, and a source in place of a table. */
function pathsOf(name: string, { at }: Classified, ids: Holding['ids']): Record<string, string>[] {
  const parameters = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => parameter)
  const own = parameters.flatMap(parameter => {
    const given = at?.[parameter] ?? PARAMETERS[parameter]
    if (given === undefined) return []
    return [[parameter, given.startsWith('=') ? given.slice(1) : ids[given as Kind]] as const]
  })
  const path = Object.fromEntries(own)
  return path.asset_id === ids.table ? [path, path, path, { ...path, asset_id: ids.source }] : [path]
}

/** What the matrix asks in vain, or with one form of several. */
function ownRecipes(
  { ids }: Holding,
  owner: Awaited<ReturnType<typeof signInAdmin>>,
  found: Record<'chart' | 'badge' | 'contract' | 'deadJob' | 'destination' | 'ticket' | 'magic', string>,
): Record<string, Partial<Recipe>> {
  const file = moduleAddress('main').split('/')
  const places = { tables: ids.table, sources: ids.source }
  const token = createHmac('sha256', Buffer.from(SECRET_KEY, 'base64')).update(owner.email).digest('hex')
  const unsubscribing = { query: { email: owner.email, token } }
  const browser = { headers: { 'User-Agent': BROWSER } }
  const credentials = { email: owner.email, password: PASSWORD }
  return {
    'GET /api/public/docs/{path}.md': { paths: [{ path: 'drift' }] },
    'GET /api/public/unsubscribe': unsubscribing,
    'POST /api/public/unsubscribe': unsubscribing,
    'GET /api/public/magic-login': {
      headers: { ...browser.headers, Accept: 'text/html' },
      query: { token: found.magic },
    },
    'GET /badges/{public_id}.svg': { paths: [{ public_id: found.badge }] },
    'GET /badges/contracts/{public_id}.svg': { paths: [{ public_id: found.contract }] },
    'GET /charts/{token}': { paths: [{ token: found.chart }] },
    'GET /api/v1/oauth/{provider_type}/authorize': { paths: [{ provider_type: 'github' }] },
    'POST /api/v1/auth/login': { bodies: [credentials] },
    'POST /api/v1/auth/tickets': { bodies: [{ ticket: found.ticket }] },
    'POST /api/public/magic-login': { ...browser, bodies: [{ token: found.magic }] },
    'POST /console/session': { bodies: [credentials, { ticket: found.ticket }, { demo: true }] },
    'POST /console/tickets': { bodies: [{ ticket: found.ticket }] },
    'PUT /api/v1/auth/tokens/current': { bodies: [{ refresh_token: owner.refreshToken }] },
    'GET /api/v1/freshness': { query: { asset: ids.table } },
    'DELETE /api/v1/sdk/alerts/rules/{id}/destinations/{destination_id}': {
      paths: [{ id: ids.alertRule, destination_id: found.destination }],
    },
    'GET /console/files/{version}/{path}': { paths: [{ version: file[3]!, path: file.slice(4).join('/') }] },
    ...Object.fromEntries(
      Object.entries({ alerts: ids.alert, incidents: ids.incident, routing: ids.alertRule, ...places }).map(
        ([screen, id]) => [`GET /${screen}/{id}`, { paths: [{ id }], headers: { Accept: 'text/html' } }],
      ),
    ),
    'POST /api/v1/sdk/operations/dead-jobs/redrive': { bodies: [{ ids: [found.deadJob] }] },
    'POST /api/v1/sdk/operations/dead-jobs/discard': { bodies: [{ ids: [found.deadJob] }] },
  }
}

function valuesOf({ ids }: Holding, email: string): Record<string, string[]> {
  const tables = ['public.orders', 'orders']
  const columns = ['id', 'customer_id']
  return {
    asset_id: [ids.table, ids.source, 'Ours shop'],
    asset: [ids.table, 'Ours shop'],
    asset_ids: [ids.table, ids.source],
    asset_public_ids: [ids.table, ids.source],
    default_asset_id: [ids.table],
    source: ['Ours shop', ids.source],
    source_id: [ids.source],
    scope_name: ['Ours shop'],
    table: tables,
    table_path: tables,
    table_paths: tables,
    child_table_path: tables,
    parent_table_path: ['public.customers'],
    schema: ['public'],
    column: columns,
    column_name: columns,
    column_names: columns,
    group_by_columns: ['customer_id'],
    child_column_name: ['customer_id'],
    parent_column_name: ['id'],
    freshness_column: ['placed_at'],
    object_path: tables,
    object_paths: tables,
    destination_id: [ids.destination],
    destination_ids: [ids.destination],
    rule_id: [ids.alertRule],
    check_id: [ids.metric, ids.rule],
    alert_id: [ids.alert],
    assignee_id: [ids.user],
    operating_schedule_id: [ids.hours],
    change_ids: [ids.change],
    owner: [email],
    owners: [email, 'Finance'],
    members: [email],
    upstream: [ids.table],
    downstream: [ids.table],
    queue: [QUEUE],
    q: ['orders'],
    search: ['orders'],
    target_id: [ids.source],
    timezone: ['Europe/Berlin', 'UTC'],
    clock_timezone: ['Europe/Berlin'],
    old_password: [PASSWORD],
    namespace: ['s3://lake'],
  }
}
