import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROLES, SCOPES, type Role } from '../../../server/http/access.ts'
import { startServer, type TestServer } from '../../helpers/server.ts'
import { startSource } from '../../helpers/source.ts'
import type { Kind } from './matrix-routes.ts'
import { suggestionId } from '../../../plugins/recommendations/rules/suggest.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** A company that has one of everything that has an id, and what it signs in with. */
export interface Holding {
  companyId: string
  ids: Record<Kind, string>
  /** A good credential each. */
  credentials: Record<Role | `${(typeof SCOPES)[number]} key`, string>
}

/** Two companies on a server whose jobs stand still, so that nothing changes but by the requests of the test. */
export interface Matrix {
  app: TestServer
  ours: Holding
  theirs: Holding
  /** Credentials of ours that have ended, each in its way. */
  ended: Record<'expired key' | 'revoked key' | 'ended session' | 'disabled user', string>
  /** Puts every row of both companies back as it was, so that a thing made once serves all requests. */
  restore(): Promise<void>
  /** Whether limits refuse everything, or nothing, whatever was asked before. */
  limit(isFull: boolean): Promise<void>
}

/** A contract of the least kind. */
export const CONTRACT = `apiVersion: v3.1.0
kind: DataContract
id: orders
version: 1.0.0
status: active
schema:
  - name: orders
`
export const PASSWORD = 'a long walk at dawn'

export const SHOP = [
  'create table customers (id bigint primary key, email text, seen_at timestamptz not null default now())',
  'create table orders (id bigint primary key, customer_id bigint, placed_at timestamptz not null default now())',
  'insert into customers values (1, $$ada@example.com$$)',
  'insert into orders values (1, 1)',
]

const COLUMNS = ['id', 'customer_id', 'email', 'placed_at', 'seen_at'].map((name, index) => ({
  name,
  ordinal: index + 1,
  type: name.endsWith('_at') ? 'timestamptz' : name === 'email' ? 'text' : 'bigint',
  rawType: name.endsWith('_at') ? 'timestamp with time zone' : name === 'email' ? 'text' : 'bigint',
  kind: name.endsWith('_at') ? 'timestamp' : name === 'email' ? 'text' : 'integer',
  nullable: true,
  default: null,
  comment: null,
}))

/** Makes the two companies over one source database. */
export async function makeMatrix(t: Teardown): Promise<Matrix> {
  const source = await startSource(t)
  for (const statement of SHOP) await source.query(statement)
  const dataDir = await mkdtemp(join(tmpdir(), 'matrix-'))
  t.teardown(() => rm(dataDir, { recursive: true }))
  const app = await startServer(t, {
    settings: {
      ROLE: 'web',
      DEMO_ENABLED: 'true',
      DATA_DIR: dataDir,
      // Needs no discovery: to begin at it asks nothing of it.
      OAUTH_GITHUB_CLIENT_ID: 'matrix',
      OAUTH_GITHUB_CLIENT_SECRET: 'matrix',
    },
  })
  const limit = await holdLimits(app)
  const ours = await makeHolding(app, 'Ours', source)
  const theirs = await makeHolding(app, 'Theirs', source)
  const ended = await endSome(app, ours)
  return { app, ours, theirs, ended, limit, restore: await saveRows(app) }
}

/** Has limits refuse nothing, whatever was asked before, until what it returns is called with true: everything then. */
export async function holdLimits(app: TestServer): Promise<Matrix['limit']> {
  const limit: Matrix['limit'] = async isFull => {
    await app.query(
      `create or replace function hold_limits() returns trigger language plpgsql as $$ begin
         new.used := ${isFull ? 1_000_000 : 0};
         new.burst_used := ${isFull ? 1_000_000 : 0};
         new.is_allowed := ${!isFull};
         return new;
       end $$`,
    )
  }
  await limit(false)
  await app.query(
    'create trigger hold_limits before insert or update on rate_windows for each row execute function hold_limits()',
  )
  return limit
}

type SourceOf = Awaited<ReturnType<typeof startSource>>

/** Creates a company that has one of everything. @param source has the tables of `SHOP` */
export async function makeHolding(app: TestServer, name: string, source: SourceOf): Promise<Holding> {
  const { auth } = app.server.plugins
  const { id: companyId } = await auth.createCompany({ name, plan: 'enterprise' })
  const credentials = {} as Holding['credentials']
  for (const role of ROLES) credentials[role] = (await signIn(app, companyId, role)).token
  for (const scope of SCOPES)
    credentials[`${scope} key`] = (await auth.createKey({ companyId, name: scope, scope })).key
  const holding = { companyId, credentials, ids: {} as Record<Kind, string> }
  await fillAccounts(app, holding)
  await fillCatalog(app, holding, name, source)
  await fillChecks(app, holding)
  await fillAlerts(app, holding)
  return holding
}

/** Makes a user with a linked provider and signs them in. */
async function signIn(app: TestServer, companyId: string, role: Role) {
  const email = `${role}-${randomUUID().slice(0, 8)}@example.com`
  const { id } = await app.server.plugins.auth.createUser({ companyId, email, password: PASSWORD, role })
  await app.query(
    `insert into identities (issuer, subject, company_id, user_id, provider)
     values ('https://github.com/login/oauth', cast($1 as uuid)::text, $2, $1, 'github')`,
    [id, companyId],
  )
  const { body } = await app.ask('POST', '/api/v1/auth/login', { email, password: PASSWORD })
  return { id, email, token: body.access_token as string }
}

async function fillAccounts(app: TestServer, holding: Holding): Promise<void> {
  const { companyId, ids } = holding
  const { record } = await app.server.plugins.auth.createKey({ companyId, name: 'spare', scope: 'read-only' })
  ids.key = record.id
  ids.user = (await signIn(app, companyId, 'viewer')).id
  const email = `${randomUUID()}@example.com`
  ids.invitation = await made(app, holding, '/api/v1/invitations', { email, role: 'viewer' })
}

async function fillCatalog(
  app: TestServer,
  holding: Holding,
  name: string,
  { config, name: catalog }: SourceOf,
): Promise<void> {
  const { ids, companyId } = holding
  const connection = { name: `${name} shop`, source_type: 'postgresql', connection_config: config }
  ids.source = await made(app, holding, '/api/v1/sdk/assets', connection)
  await app.query(
    `update sources set connection_status = 'connected', discovery_state = 'completed', last_discovery_at = now()
     where id = $1`,
    [ids.source],
  )
  for (const table of ['customers', 'orders']) {
    const id = randomUUID()
    await app.query(
      `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind,
         columns, constraints, fingerprint, column_count)
       values ($1, $2, $3, $4, 'public', $5, $6, 'table', $7, '[]', 'x', $8)`,
      [
        id,
        companyId,
        ids.source,
        catalog,
        table,
        `${connection.name}.${catalog}.public.${table}`,
        JSON.stringify(COLUMNS),
        COLUMNS.length,
      ],
    )
    ids.table = id
  }
  ids.change = randomUUID()
  await app.query(
    `insert into schema_changes (id, company_id, source_id, table_id, table_path, change_type, object_name,
       object_type, new_value, impact, discovery_id)
     values ($1, $2, $3, $4, 'public.orders', 'column_added', 'email', 'column',
       '{"name": "email", "data_type": "text", "nullable": true}', 'low', gen_random_uuid())`,
    [ids.change, companyId, ids.source, ids.table],
  )
  await app.query(
    `insert into profiles (id, company_id, source_id, table_id, row_count, is_row_count_exact, profiled_rows,
       is_sampled, statements, milliseconds, columns)
     values (gen_random_uuid(), $1, $2, $3, 0, true, 0, false, 1, 1, '[]')`,
    [companyId, ids.source, ids.table],
  )
  ids.job = randomUUID()
  await app.query(
    `insert into runs (id, company_id, workflow_name, source_id, asset_id, status)
     values ($1, $2, 'metric_backfill', $3, $3, 'pending')`,
    [ids.job, companyId, ids.source],
  )
}

async function fillChecks(app: TestServer, holding: Holding): Promise<void> {
  const { ids } = holding
  const on = (feature: string) => `/api/v1/sdk/${feature}/${ids.table}`
  ids.rule = await made(app, holding, on('validity'), {
    rule_type: 'NOT_NULL',
    table_path: 'public.orders',
    column_name: 'id',
  })
  ids.metric = await made(app, holding, on('metrics'), {
    metric_type: 'row_count',
    table_path: 'public.orders',
  })
  ids.comparison = await made(app, holding, on('comparisons'), {
    table_path: 'public.orders',
    right_table_path: 'public.customers',
    key_columns: ['id'],
  })
  ids.check = await made(app, holding, on('referential'), {
    child_table_path: 'public.orders',
    child_column_name: 'customer_id',
    parent_table_path: 'public.customers',
    parent_column_name: 'id',
  })
  ids.hours = await made(app, holding, '/api/v1/operating-schedules', {
    name: 'office hours',
    timezone: 'UTC',
    rules: [{ days: [1, 2, 3], start: '09:00', end: '17:30' }],
  })
  ids.schedule = await made(app, holding, '/api/v1/sdk/freshness/schedules', {
    asset_id: ids.table,
    monitoring_mode: 'explicit',
    sla_threshold: '24h',
    freshness_column: 'placed_at',
  })
  const edge = { upstream: ids.table, downstream: ids.table }
  await app.ask('POST', '/api/v1/sdk/lineage/edges', edge, holding.credentials.owner)
  const mapped = { namespace: `s3://${randomUUID()}`, source_id: ids.source }
  ids.namespaceRule = await made(app, holding, '/api/v1/sdk/lineage/namespaces', mapped)
  ids.badge = await made(app, holding, '/api/v1/sdk/badges', { asset_id: ids.table })
  ids.chartLink = await made(app, holding, '/api/v1/sdk/chart-links', {
    asset_id: ids.table,
    check_id: ids.metric,
  })
  ids.team = await made(app, holding, '/api/v1/sdk/teams', { name: 'Finance' })
  const owned = await app.ask(
    'PUT',
    '/api/v1/sdk/owners',
    { asset_id: ids.table, owners: [ids.team] },
    holding.credentials.owner,
  )
  ids.ownership = owned.body.data.ownerships[0].id
  ids.contract = `orders-${randomUUID()}`
  const contract = { contract: CONTRACT, source: ids.source }
  const stored = await app.ask(
    'PUT',
    `/api/v1/sdk/contracts/${ids.contract}`,
    contract,
    holding.credentials.owner,
  )
  if (stored.status !== 201) throw new Error(JSON.stringify(stored.body))
  ids.contractExport = randomUUID()
  await app.query(
    `insert into contract_exports (id, company_id, status, request) values ($1, $2, 'pending', '{}')`,
    [ids.contractExport, holding.companyId],
  )
  ids.recommendation = suggestionId(ids.table!, { kind: 'metric', type: 'row_count', column: null })
  ids.tag = await made(app, holding, '/api/v1/sdk/tags', { asset_id: ids.table, name: 'money' })
  const look = (path: string) => app.ask('GET', path, undefined, holding.credentials.owner)
  ids.ruleNumber = String((await look(`${on('validity')}/${ids.rule}`)).body.data.id)
  ids.metricNumber = String((await look(`${on('metrics')}/${ids.metric}`)).body.data.internal_id)
}

async function fillAlerts(app: TestServer, holding: Holding): Promise<void> {
  const { ids, companyId } = holding
  const alerts = '/api/v1/sdk/alerts'
  ids.destination = await made(app, holding, `${alerts}/destinations`, {
    name: 'Receiver',
    destination_type: 'webhook',
    config: { url: 'https://127.0.0.1:9/hook' },
  })
  ids.alertRule = await made(app, holding, `${alerts}/rules`, {
    name: 'All',
    destination_ids: [ids.destination],
  })
  ids.muteWindow = await made(app, holding, `${alerts}/mute-windows`, {
    name: 'Later',
    starts_at: '2998-12-01T00:00:00Z',
    ends_at: '2999-01-01T00:00:00Z',
  })
  ids.digest = await made(app, holding, `${alerts}/digests`, {
    name: 'Weekly',
    destination_id: ids.destination,
  })
  const { alertId } = await app.server.db.company(companyId, trx =>
    app.server.plugins.alerts.raise(trx, {
      type: 'validity_failure',
      cause: 'rule:1',
      severity: 'warning',
      sourceId: ids.source,
      asset: { id: ids.table, qualifiedName: 'shop.orders', assetType: 'table', tags: [] },
      ruleName: 'Total is positive',
      title: '3 of 100 values are invalid',
      details: {},
    }),
  )
  ids.alert = alertId
  await app.server.db.company(companyId, trx => app.server.plugins.alerts.incidents.update(trx, [alertId]))
  const [incident] = await app.query('select id from incidents where company_id = $1', [companyId])
  ids.incident = String(incident?.id)
  const [delivery] = await app.query(
    `update deliveries set status = 'failed', completed_at = now(), next_attempt_at = null, job_id = null
     where company_id = $1 returning id`,
    [companyId],
  )
  ids.delivery = String(delivery?.id)
}

async function made(app: TestServer, { credentials }: Holding, path: string, body: object): Promise<string> {
  const reply = await app.ask('POST', path, body, credentials.owner)
  const { data = reply.body } = reply.body
  const id = data.uuid ?? data.id
  if (reply.status !== 201 || id === undefined) throw new Error(`${path}: ${JSON.stringify(reply.body)}`)
  return String(id)
}

async function endSome(app: TestServer, { companyId }: Holding): Promise<Matrix['ended']> {
  const { auth } = app.server.plugins
  const key = (name: string) => auth.createKey({ companyId, name, scope: 'admin' })
  const [expired, revoked] = [await key('expired'), await key('revoked')]
  await app.query(`update api_keys set expires_at = now() - interval '1 second' where id = $1`, [
    expired.record.id,
  ])
  await auth.revokeKey(companyId, revoked.record.id)
  const [gone, disabled] = [await signIn(app, companyId, 'admin'), await signIn(app, companyId, 'admin')]
  await app.ask('POST', '/api/v1/auth/logout', undefined, gone.token)
  await app.query('update users set is_active = false where id = $1', [disabled.id])
  return {
    'expired key': expired.key,
    'revoked key': revoked.key,
    'ended session': gone.token,
    'disabled user': disabled.token,
  }
}

/** Copies what there is, and gives a function that brings back what has changed since. */
export async function saveRows({ query }: TestServer): Promise<() => Promise<void>> {
  const found = await query(
    `select table_name as name, string_agg(quote_ident(column_name), ', ' order by ordinal_position)
       filter (where is_generated = 'NEVER') as columns
     from information_schema.tables join information_schema.columns using (table_schema, table_name)
     where table_schema = 'public' and table_type = 'BASE TABLE' and table_name !~ 'migrations|rate_windows'
     group by 1`,
  )
  const columnsOf = new Map(found.map(({ name, columns }) => [name, columns]))
  await query(
    `create schema kept;
     create table kept.changed (name text);
     create function kept.note() returns trigger language plpgsql security definer as $$ begin
       insert into kept.changed values (tg_table_name); return null; end $$`,
  )
  for (const { name } of found)
    await query(
      `create table kept.${name} as table ${name};
       create trigger noted after insert or update or delete on ${name} for each statement execute function kept.note()`,
    )
  return async () => {
    const changed = await query('select distinct name from kept.changed')
    const back = changed.map(
      ({ name }) =>
        `delete from ${name};
         insert into ${name} (${columnsOf.get(name)}) overriding system value select ${columnsOf.get(name)} from kept.${name};`,
    )
    // Without triggers and foreign keys: the order of tables does not matter, nor that the log may only grow.
    await query(
      `set session_replication_role = replica; ${back.join(' ')} delete from kept.changed;
       set session_replication_role = origin`,
    )
  }
}
