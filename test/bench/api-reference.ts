/**
 * The reference of `api.ts`: what an engineer writes by hand for the same two endpoints, with hapi, Joi and pg. Path and
 * query are validated; one prepared statement finds the rows of the one company by an index; the reply has the same
 * bytes. Two variants: rows become objects in the process, or PostgreSQL builds the JSON, which is sent as it is.
 *
 * It leaves out what the product does besides: API keys, scopes, rate limits, row-level security, the log, metrics,
 * request ids and security headers, error envelopes, query timeouts, and connections that are lost.
 */
import Hapi, { type Request, type Server, type ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import pg from 'pg'

/** As many connections as our server has for its two roles together. */
const CONNECTIONS = 14

const RULES = `
  select v.id, v.uuid, t.catalog_name, t.schema_name, t.name as table_name, v.column_name, v.type as rule_type,
    v.name, v.severity, v.is_active, v.check_interval, v.created_at, v.status as latest_status, count(*) over () as total
  from checks v join tables t on t.id = v.table_id
  where v.company_id = $1 and v.kind = 'validity' and v.table_id = $2
  order by v.created_at desc, v.id desc limit $3 offset $4`

const ISO = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`

const RULES_AS_JSON = `
  select coalesce(json_agg(json_build_object('id', id, 'uuid', 'v_' || uuid,
      'table_path', catalog_name || '.' || schema_name || '.' || table_name, 'column_name', column_name,
      'rule_type', rule_type, 'name', name, 'severity', severity, 'is_active', is_active, 'check_interval', check_interval,
      'created_at', to_char(created_at at time zone 'utc', ${ISO}), 'latest_status', latest_status)), '[]') as items,
    coalesce(max(total), 0) as total
  from (${RULES}) found`

const ASSET = `
  select t.id, t.qualified_name, t.kind, s.name as source, t.catalog_name, t.schema_name, t.name, t.description, t.comment,
    t.is_active, t.absence, t.read_error, t.column_count, t.estimated_rows, t.constraints, t.columns, t.column_tags, t.tags,
    t.created_at, t.updated_at, t.partitioning, t.window_setting, q.*, f.*, c.worst, l.*, o.owners
  from tables t join sources s on s.id = t.source_id
  cross join lateral (
    select count(*) filter (where status in ('pass', 'warning') and not is_learning) as passing,
      count(*) filter (where status in ('pass', 'warning') and is_learning) as learning, count(*) filter (where status is null) as pending,
      count(*) filter (where status = 'fail') as failing, count(*) filter (where status = 'error') as errors,
      max(case when status = 'fail' then 4 when status = 'error' then 3 when status is null then 2
        when is_learning then 1 else 0 end)
        filter (where type = 'row_count' and filter is null) as volume,
      json_object_agg(column_name, coalesce(status, 'pending')) filter (where type = 'UNIQUE' and filter is null) as uniques
    from checks where company_id = $1 and table_id = t.id and is_active and kind <> 'freshness'
  ) q
  left join lateral (
    select uuid as schedule_id, status as freshness, settings ->> 'slaThreshold' as sla_threshold, settings ->> 'lastUpdated' as last_updated,
      last_checked_at, settings ->> 'updatesSeen' as updates_seen, settings ->> 'learnedSlaSeconds' as learned,
      settings ->> 'monitoringMode' as monitoring_mode
    from checks where company_id = $1 and table_id = t.id and kind = 'freshness'
  ) f on true
  cross join lateral (
    select max(case impact when 'high' then 3 when 'medium' then 2 else 1 end) as worst
    from schema_changes where company_id = $1 and source_id = t.source_id and table_id = t.id and not is_acknowledged
  ) c
  left join lateral (
    select last_at, last_checks, last_statements, last_rows, last_bytes, last_milliseconds
    from scan_costs where company_id = $1 and table_id = t.id order by day desc limit 1
  ) l on true
  cross join lateral (
    select coalesce(json_agg(json_build_object('type', case when tm.id is not null then 'team'
          when u.id is not null then 'user' when r.email is not null then 'email' else 'name' end,
        'id', coalesce(tm.id, u.id), 'name', coalesce(tm.name, nullif(u.full_name, ''), u.email, r.email, r.name),
        'email', case when tm.id is null then coalesce(u.email, r.email) end, 'origin', r.origin,
        'inherited_from', case when r.level <> 'own' then json_build_object('type', r.level, 'name', r.subject) end
      )), '[]') as owners
    from (
      select o.*, level.*, rank() over (order by level.depth,
        array_position(array['manual', 'dbt', 'openlineage', 'comment'], o.origin)) as place
      from ownerships o cross join lateral (
        select case when o.table_id is not null then 1 when o.tag = any(t.tags) then 2 when o.schema_name is not null then 3
            when o.source_id is not null then 4 else 5 end as depth,
          case when o.table_id is not null then 'own' when o.tag is not null then 'tag'
            when o.schema_name is not null then 'schema' else 'source' end as level,
          coalesce(o.tag, o.catalog_name || '.' || o.schema_name, s.name) as subject
      ) level
      where o.company_id = $1 and (o.table_id = t.id or o.tag = any(t.tags || s.tags)
        or o.source_id = t.source_id and o.table_id is null
          and (o.schema_name is null or (o.catalog_name, o.schema_name) = (t.catalog_name, t.schema_name)))
    ) r
    left join users u on u.company_id = $1 and (u.id = r.user_id or u.email = r.email)
    left join teams tm on tm.company_id = $1 and (tm.id = r.team_id or lower(tm.name) = lower(r.name))
    where r.place = 1
  ) o
  where t.company_id = $1 and t.id = $2`

interface RuleRow {
  [column: string]: unknown
  id: string
  total: string
}

interface AssetRow {
  [column: string]: unknown
  columns: { name: string; type: string; kind: string; nullable: boolean; comment: string | null }[]
  column_tags: Record<string, string[]>
  constraints: { type: string; columns: string[] }[]
  worst: number | null
  uniques: Record<string, 'pass' | 'warning' | 'fail' | 'error' | 'pending'> | null
}

const params = Joi.object({ asset_id: Joi.string().uuid().required() })
const validateList = {
  params,
  query: Joi.object({
    limit: Joi.number().integer().min(1).max(100).default(50),
    offset: Joi.number().integer().min(0).default(0),
  }),
}

export function makeReference(databaseUrl: string, companyId: string): Server {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: CONNECTIONS })
  const server = Hapi.server({ port: 0, host: '127.0.0.1' })
  const valuesOf = ({ params, query }: Request) => [companyId, params.asset_id, query.limit, query.offset]
  const routes: ServerRoute[] = [
    {
      method: 'GET',
      path: '/rules/{asset_id}',
      options: { validate: validateList },
      async handler(request) {
        const query = { name: 'rules', text: RULES, values: valuesOf(request) }
        const { rows } = await pool.query<RuleRow>(query)
        const items = rows.map(ruleOf)
        return { data: { items }, pagination: paginationOf(Number(rows[0]?.total ?? 0), request) }
      },
    },
    {
      method: 'GET',
      path: '/rules-as-json/{asset_id}',
      options: { validate: validateList },
      async handler(request, h) {
        const query = { name: 'rules as json', text: RULES_AS_JSON, values: valuesOf(request) }
        // Without a parser, JSON stays text.
        const types = { getTypeParser: () => (text: string) => text }
        const { rows } = await pool.query<{ items: string; total: string }>({ ...query, types })
        const [{ items = '[]', total = '0' } = {}] = rows
        // PostgreSQL puts blanks between the parts; the bytes need not be the same then.
        const pagination = JSON.stringify(paginationOf(Number(total), request))
        return h.response(`{"data":{"items":${items}},"pagination":${pagination}}`).type('application/json')
      },
    },
    {
      method: 'GET',
      path: '/assets/{asset_id}',
      options: { validate: { params } },
      async handler(request, h) {
        const values = [companyId, request.params.asset_id]
        const { rows } = await pool.query<AssetRow>({ name: 'asset', text: ASSET, values })
        return rows[0] ? assetOf(rows[0]) : h.response({ error: 'not found' }).code(404)
      },
    },
  ]
  server.route(routes)
  return server
}

function paginationOf(total: number, { query }: Request): object {
  const { limit, offset } = query as { limit: number; offset: number }
  return { total, limit, offset, has_more: offset + limit < total }
}

function ruleOf(row: RuleRow): object {
  return {
    id: Number(row.id),
    uuid: `v_${row.uuid as string}`,
    table_path: `${row.catalog_name as string}.${row.schema_name as string}.${row.table_name as string}`,
    column_name: row.column_name,
    rule_type: row.rule_type,
    name: row.name,
    severity: row.severity,
    is_active: row.is_active,
    check_interval: row.check_interval,
    created_at: row.created_at,
    latest_status: row.latest_status,
  }
}

/** The same sentence as the product's, for what the data of the benchmark has. */
function healthOf(
  row: AssetRow,
  counts: { passing: number; learning: number; failing: number; error: number; pending: number },
) {
  const { passing, learning, failing, error, pending } = counts
  const STATES = ['passing', 'learning', 'pending', 'error', 'failing']
  const key = row.constraints.find(({ type, columns }) => type === 'primary_key' && columns.length === 1)
  const named = {
    pass: 'passing',
    warning: 'passing',
    fail: 'failing',
    error: 'error',
    pending: 'pending',
  } as const
  const unique = key && row.uniques?.[key.columns[0]!]
  const freshness =
    row.schedule_id === null ? 'not_watched' : named[(row.freshness ?? 'pending') as keyof typeof named]
  const watched = {
    freshness,
    volume: row.volume === null ? 'not_watched' : STATES[Number(row.volume)],
    keys: key ? (unique ? named[unique] : row.kind === 'table' ? 'enforced' : 'not_watched') : null,
  }
  const missing = Object.entries(watched).flatMap(([part, state]) => (state === 'not_watched' ? [part] : []))
  const isFailing = failing + error > 0 || freshness === 'failing' || freshness === 'error'
  const isKnown =
    pending + learning === 0 &&
    !Object.values(watched).some(
      state => state === 'pending' || state === 'learning' || state === 'not_watched',
    )
  const counted = [
    failing && `${failing} fail`,
    error && `${error} could not run`,
    passing &&
      (failing + error + learning + pending === 0
        ? `${passing} ${passing === 1 ? 'check passes' : 'checks pass'}`
        : `${passing} pass`),
    learning && `${learning} learning`,
  ]
  const parts =
    missing.length > 0 ? [`${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} not watched`] : []
  return {
    status: isFailing ? 'failing' : isKnown ? 'fine' : 'unknown',
    headline: [counted.filter(Boolean).join(', '), ...parts].join('; '),
    watched,
  }
}

function assetOf(row: AssetRow): object {
  const [passing, learning, failing, error, pending] = [
    row.passing,
    row.learning,
    row.failing,
    row.errors,
    row.pending,
  ].map(Number) as [number, number, number, number, number]
  const status = failing ? 'failing' : error ? 'error' : passing + learning ? 'passing' : 'none'
  return {
    id: row.id,
    qualified_name: row.qualified_name,
    asset_type: row.kind,
    source: row.source,
    database: row.catalog_name,
    schema: row.schema_name,
    name: row.name,
    table_path: `${row.catalog_name as string}.${row.schema_name as string}.${row.name as string}`,
    description: row.description ?? row.comment,
    is_active: row.is_active,
    absence: row.absence,
    read_error: row.read_error,
    column_count: row.column_count,
    estimated_rows: row.estimated_rows === null ? null : Number(row.estimated_rows),
    known_rows:
      row.estimated_rows === null ? null : { count: Number(row.estimated_rows), from: 'engine', at: null },
    primary_key: row.constraints.find(({ type }) => type === 'primary_key')?.columns ?? [],
    freshness: {
      status: row.freshness ?? 'unknown',
      last_updated: row.last_updated,
      sla_threshold: row.sla_threshold,
      checked_at: row.last_checked_at,
      learning:
        row.monitoring_mode === 'auto_learn' && row.learned === null
          ? { seen: Number(row.updates_seen), needed: 7 }
          : null,
      schedule_id: row.schedule_id,
    },
    quality: { status, passing, learning, failing, error, pending },
    schema_change_status: [null, 'low', 'medium', 'high'][row.worst ?? 0] ?? 'none',
    owners: row.owners,
    last_scan:
      row.last_at === null
        ? null
        : {
            at: row.last_at,
            checks: row.last_checks,
            statements: Number(row.last_statements),
            rows: Number(row.last_rows),
            bytes: Number(row.last_bytes),
            duration_ms: Number(row.last_milliseconds),
          },
    health: healthOf(row, { passing, learning, failing, error, pending }),
    tags: row.tags,
    created_at: row.created_at,
    updated_at: row.updated_at,
    partitioning: row.partitioning,
    default_window: row.window_setting,
    // Follows from how a table is partitioned, and no table here is.
    proposed_window: null,
    columns: row.columns.map(({ name, type, kind, nullable, comment }) => ({
      name,
      data_type: type,
      kind,
      nullable,
      description: comment,
      tags: row.column_tags[name] ?? [],
    })),
  }
}
