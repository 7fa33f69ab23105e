import { randomUUID } from 'node:crypto'
import { CONTRACT, PASSWORD } from './matrix-world.ts'

/** Who may call a route, in the words of `access` in server/http/access.ts. */
export type Access =
  | 'open'
  | 'login'
  | 'register'
  | 'tickets'
  | 'passwordResets'
  | 'resetPassword'
  | 'invitation'
  | 'oauth'
  | 'demo'
  | 'magic'
  | 'events'
  | 'beta'
  | 'contracts'
  | 'charts'
  | 'lineage'
  | 'read'
  | 'write'
  | 'admin'
  | 'session'
  | 'sessionLimited'
  | 'sessionCounted'
  | 'sessionWrite'
  | 'users'
  | 'keys'

/** The kinds of things that have ids. */
export type Kind =
  | 'source'
  | 'table'
  | 'rule'
  | 'ruleNumber'
  | 'metric'
  | 'metricNumber'
  | 'check'
  | 'comparison'
  | 'hours'
  | 'schedule'
  | 'tag'
  | 'destination'
  | 'alertRule'
  | 'muteWindow'
  | 'digest'
  | 'alert'
  | 'incident'
  | 'delivery'
  | 'change'
  | 'job'
  | 'key'
  | 'user'
  | 'invitation'
  | 'badge'
  | 'chartLink'
  | 'contract'
  | 'contractExport'
  | 'recommendation'
  | 'team'
  | 'ownership'
  | 'namespaceRule'

/** Gives the id of a thing: that of the caller's company, another company's, or one made up. */
export type Id = (kind: Kind) => string

/** One route as the test calls it. */
export interface Classified {
  access: Access
  /** What its path's parameters are, where `PARAMETERS` does not say; `=text` is a text. */
  at?: Record<string, Kind | `=${string}`>
  /** A query, by names. */
  query?: (id: Id) => Record<string, string>
  /** A body that is good, so that only ids decide. */
  body?: (id: Id) => object
  /** What a caller who may gets with ids of their own; any status below 400 when not said. */
  answers?: number
  /** It replies 200 with a result for each id of its body. */
  isPartial?: true
}

/** What parameters of these names are the ids of. */
export const PARAMETERS: Record<string, Kind> = {
  asset_id: 'table',
  rule_id: 'rule',
  metric_id: 'metric',
  check_id: 'check',
  comparison_id: 'comparison',
  schedule_id: 'hours',
  job_id: 'job',
  change_id: 'change',
  key_id: 'key',
  user_id: 'user',
  invitation_id: 'invitation',
}

const sources = { asset_id: 'source' } as const
const is = (kind: Kind) => ({ at: { id: kind } })
const onContract = { at: { name: 'contract' as const } }
const noToken = () => ({ email: 'reader@example.com', token: 'not-one' })
const onTable = (id: Id) => ({ asset_id: id('table') })
const ownEdge = (id: Id) => ({ upstream: id('table'), downstream: id('table') })
export const event = () => ({
  eventType: 'START',
  eventTime: '2026-05-04T10:00:00Z',
  producer: 'https://example.com',
  schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json',
  run: { runId: randomUUID() },
  job: { namespace: 'airflow', name: 'daily' },
})
const manifest = {
  metadata: { dbt_schema_version: 'https://schemas.getdbt.com/dbt/manifest/v12.json' },
  nodes: {},
}
const rule = { rule_type: 'UNIQUE', table_path: 'public.orders', column_name: 'id' }
const metric = { metric_type: 'null_percent', table_path: 'public.orders', column_name: 'id' }
const monitorsFiles = () => {
  const checks = { metric: [{ key: 'rows', metric_type: 'row_count' }] }
  const content = { version: 1, source: 'Ours shop', tables: { 'public.orders': { checks } } }
  return { files: [{ name: 'shop.yaml', content }] }
}
const reference = {
  child_table_path: 'public.orders',
  child_column_name: 'id',
  parent_table_path: 'public.customers',
  parent_column_name: 'id',
}
const comparison = { table_path: 'public.orders', right_table_path: 'public.customers', key_columns: ['id'] }
const hours = {
  name: 'night',
  timezone: 'UTC',
  rules: [{ days: [1], start: '22:00', end: '23:00' }],
}

/** Every route of the server. Who adds one says here who may call it, what its ids are, and a body that is good. */
export const ROUTES: Record<string, Classified> = {
  // Public pages and documents.
  'GET /health': { access: 'open' },
  'GET /api/v1/health': { access: 'open' },
  'GET /openapi.json': { access: 'open' },
  'GET /docs': { access: 'open' },
  'GET /docs/start.js': { access: 'open' },
  'GET /docs/assets/{file}': { access: 'open', at: { file: '=swagger-ui.css' } },
  'GET /redoc': { access: 'open' },
  'GET /redoc/start.js': { access: 'open' },
  'GET /redoc/assets/{file}': { access: 'open', at: { file: '=redoc.standalone.js' } },
  'GET /guide': { access: 'open' },
  'GET /guide/{page}': { access: 'open', at: { page: '=index' } },
  // The console: pages and files, and the sign-in that it keeps in a cookie.
  'GET /': { access: 'open' },
  'GET /catalog': { access: 'open' },
  'GET /checks': { access: 'open' },
  'GET /changes': { access: 'open' },
  'GET /connect': { access: 'open' },
  'GET /recommendations': { access: 'open' },
  'GET /settings/{id?}': { access: 'open', at: { id: '=people' } },
  'GET /console/files/{version}/{path*}': {
    access: 'open',
    at: { version: '=none', path: '=none' },
    answers: 404,
  },
  'POST /console/session': { access: 'open', body: () => ({ ticket: 'made-up' }), answers: 401 },
  'POST /console/tickets': { access: 'open', body: () => ({ ticket: 'made-up' }), answers: 401 },
  'PUT /console/session': { access: 'open', answers: 204 },
  'DELETE /console/session': { access: 'open', answers: 204 },
  'GET /assets/{file}': { access: 'open', at: { file: '=site.css' } },
  'GET /favicon.ico': { access: 'open' },
  'GET /favicon.svg': { access: 'open' },
  'GET /robots.txt': { access: 'open' },
  // What links in messages open: a page for people, the API for programs.
  'GET /alerts/{id?}': { access: 'open', at: { id: '=1' }, answers: 302 },
  'GET /tables/{id?}': { access: 'open', at: { id: '=1' }, answers: 302 },
  'GET /sources/{id?}': { access: 'open', at: { id: '=1' }, answers: 302 },
  'GET /contracts/{id?}': { access: 'open', at: { id: '=orders' } },
  'GET /incidents/{id?}': { access: 'open', at: { id: '=1' }, answers: 302 },
  'GET /schedules/{id?}': { access: 'open', at: { id: '=1' } },
  'GET /routing/{id?}': { access: 'open', at: { id: '=1' }, answers: 302 },
  'GET /invitation': { access: 'open' },
  'GET /register': { access: 'open' },
  'GET /forgot': { access: 'open' },
  'GET /reset': { access: 'open' },
  'GET /api/public/docs/{path*}': { access: 'open', at: { path: '=drift.md' } },
  'POST /api/public/contracts/validate': {
    access: 'contracts',
    body: () => ({ contract: 'apiVersion: v3.1.0' }),
  },
  'GET /api/public/unsubscribe': { access: 'open', query: noToken, answers: 403 },
  'POST /api/public/unsubscribe': { access: 'open', query: noToken, answers: 403 },
  'GET /badges/{public_id}.svg': {
    access: 'open',
    at: { public_id: '=4f0c2d1e-8b7a-4c3d-9e5f-6a1b2c3d4e5f' },
    answers: 404,
  },
  'GET /badges/contracts/{public_id}.svg': {
    access: 'open',
    at: { public_id: '=4f0c2d1e-8b7a-4c3d-9e5f-6a1b2c3d4e5f' },
    answers: 404,
  },
  'GET /charts/{token}': { access: 'charts', at: { token: `=${'a'.repeat(43)}` }, answers: 404 },
  'GET /api/public/magic-login': { access: 'open', answers: 403 },
  // What the test sends calls itself no browser.
  'POST /api/public/magic-login': { access: 'magic', body: () => ({ token: 'made-up' }), answers: 403 },
  'POST /api/public/events': {
    access: 'events',
    body: () => ({ event_name: 'docs.opened', anonymous_id: 'visitor' }),
  },
  'GET /api/public/beta/status': { access: 'open' },
  'POST /api/public/beta/signup': { access: 'beta', body: () => ({ email: 'guest@example.com' }) },

  // Accounts.
  'POST /api/v1/auth/register': {
    access: 'register',
    body: () => ({ email: 'new-matrix@example.com', password: PASSWORD }),
  },
  'POST /api/v1/auth/login': {
    access: 'login',
    body: () => ({ email: `unknown-${randomUUID()}@example.com`, password: PASSWORD }),
    answers: 401,
  },
  // No mail server is set.
  'POST /api/v1/auth/password-resets': {
    access: 'passwordResets',
    body: () => ({ email: 'guest@example.com' }),
    answers: 409,
  },
  'POST /api/v1/auth/reset-password': {
    access: 'resetPassword',
    body: () => ({ token: 'made-up', new_password: PASSWORD }),
    answers: 401,
  },
  'POST /api/v1/auth/invitation': {
    access: 'invitation',
    body: () => ({ invitation_token: 'made-up' }),
    answers: 400,
  },
  'PUT /api/v1/auth/tokens/current': {
    access: 'open',
    body: () => ({ refresh_token: 'made-up' }),
    answers: 401,
  },
  'POST /api/v1/auth/logout': { access: 'session' },
  'GET /api/v1/auth/me': { access: 'session' },
  'PATCH /api/v1/auth/me': { access: 'sessionLimited', body: () => ({ full_name: 'Ada' }) },
  'POST /api/v1/auth/change-password': {
    access: 'sessionLimited',
    body: () => ({ old_password: PASSWORD, new_password: 'a short swim at dusk' }),
  },

  'POST /api/v1/auth/tickets': { access: 'tickets', body: () => ({ ticket: 'made-up' }), answers: 401 },
  'GET /api/v1/oauth/{provider_type}/authorize': {
    access: 'oauth',
    at: { provider_type: '=unknown' },
    answers: 404,
  },
  'GET /api/v1/oauth/{provider_type}/callback': {
    access: 'oauth',
    at: { provider_type: '=unknown' },
    query: () => ({ state: 'made-up', code: 'made-up' }),
    answers: 404,
  },
  'GET /api/v1/oauth/links': { access: 'session' },
  'POST /api/v1/oauth/{provider_type}/link': {
    access: 'sessionLimited',
    at: { provider_type: '=github' },
    body: () => ({ old_password: PASSWORD }),
  },
  'DELETE /api/v1/oauth/{provider_type}/link': { access: 'sessionLimited', at: { provider_type: '=github' } },
  'POST /api/v1/auth/remove-password': {
    access: 'sessionLimited',
    body: () => ({ old_password: PASSWORD }),
  },
  'POST /api/v1/demo/session': { access: 'demo', answers: 404 },

  // Preferences and the tour.
  'GET /api/v1/auth/preferences': { access: 'session' },
  'PATCH /api/v1/auth/preferences': {
    access: 'session',
    body: id => ({ default_asset_id: id('table') }),
  },
  'DELETE /api/v1/auth/preferences': { access: 'session' },
  'GET /api/v1/auth/preferences/{preference_key}': { access: 'session', at: { preference_key: '=theme' } },
  'GET /api/v1/auth/preferences/onboarding': { access: 'session' },
  'PATCH /api/v1/auth/preferences/onboarding': {
    access: 'session',
    body: () => ({ chapter: 'connect', completed: true }),
  },
  'PATCH /api/v1/auth/preferences/onboarding/step': {
    access: 'session',
    body: () => ({ chapter: 'connect', step: 1 }),
  },
  'POST /api/v1/auth/preferences/onboarding/reset': { access: 'session' },
  'POST /api/v1/auth/preferences/onboarding/events': {
    access: 'sessionCounted',
    body: () => ({ event_name: 'opened', chapter: 'connect' }),
  },
  'POST /api/v1/auth/preferences/onboarding/demo-asset': { access: 'sessionWrite' },
  'POST /api/v1/auth/preferences/onboarding/demo-lineage': { access: 'sessionWrite' },
  'POST /api/v1/auth/preferences/onboarding/demo-alert': { access: 'sessionWrite' },
  'DELETE /api/v1/auth/preferences/onboarding/demo-alert': { access: 'sessionWrite' },
  'POST /api/v1/auth/preferences/onboarding/demo-destination': { access: 'sessionWrite' },
  'GET /api/v1/sdk/lineage': { access: 'read' },
  'GET /api/v1/sdk/lineage/{asset_id}': { access: 'read' },
  'GET /api/v1/sdk/lineage/edges': { access: 'read' },
  'POST /api/v1/sdk/lineage/edges': { access: 'write', body: ownEdge },
  'DELETE /api/v1/sdk/lineage/edges/{upstream_id}/{downstream_id}': {
    access: 'write',
    at: { upstream_id: 'table', downstream_id: 'table' },
  },
  'POST /api/v1/lineage': { access: 'lineage', body: event },
  'POST /api/v1/lineage/batch': { access: 'lineage', body: () => [event()] },
  'POST /api/v1/sdk/lineage/dbt': { access: 'write', body: id => ({ source: id('source'), manifest }) },
  'GET /api/v1/sdk/lineage/dbt/tests': { access: 'read', query: onTable },
  'GET /api/v1/sdk/lineage/runs': { access: 'read', query: onTable },
  'GET /api/v1/sdk/lineage/feeds': { access: 'read' },
  'GET /api/v1/sdk/lineage/namespaces': { access: 'read' },
  'POST /api/v1/sdk/lineage/namespaces': {
    access: 'write',
    body: id => ({ namespace: `spark://${randomUUID()}`, source_id: id('source') }),
  },
  'DELETE /api/v1/sdk/lineage/namespaces/{id}': { access: 'write', ...is('namespaceRule') },

  // Health and coverage.
  'GET /api/v1/sdk/health/summary': { access: 'read' },
  'GET /api/v1/sdk/health/overview': { access: 'read' },
  'GET /api/v1/sdk/health/events/{asset_id}': { access: 'read' },
  'GET /api/v1/sdk/coverage/company': { access: 'read' },
  'GET /api/v1/sdk/coverage/{asset_id}': { access: 'read', at: sources },
  'GET /api/v1/sdk/coverage/{asset_id}/gaps': { access: 'read', at: sources },
  'POST /api/v1/sdk/coverage/{asset_id}/apply': {
    access: 'write',
    at: sources,
    body: () => ({ types: ['metrics'] }),
  },
  'GET /api/v1/sdk/recommendations/coverage': { access: 'read', query: onTable },

  // Recommendations.
  'GET /api/v1/sdk/recommendations': { access: 'read', query: onTable },
  'GET /api/v1/sdk/recommendations/freshness': { access: 'read', query: onTable },
  'GET /api/v1/sdk/recommendations/metrics': { access: 'read', query: onTable },
  'GET /api/v1/sdk/recommendations/thresholds': { access: 'read', query: onTable },
  'POST /api/v1/sdk/recommendations/apply': { access: 'write', body: id => ({ asset_id: id('source') }) },
  'POST /api/v1/sdk/recommendations/dismiss': {
    access: 'write',
    body: id => ({ ids: [id('recommendation')] }),
  },
  'POST /api/v1/sdk/recommendations/restore': {
    access: 'write',
    body: id => ({ ids: [id('recommendation')] }),
    isPartial: true,
  },
  'POST /api/v1/sdk/recommendations/{id}/past': { access: 'write', ...is('recommendation') },

  // Users and invitations.
  'GET /api/v1/users': { access: 'users' },
  'PATCH /api/v1/users/{user_id}': { access: 'users', body: () => ({ role: 'member' }) },
  'DELETE /api/v1/users/{user_id}': { access: 'users' },
  'GET /api/v1/invitations': { access: 'users' },
  'POST /api/v1/invitations': {
    access: 'users',
    body: () => ({ email: `guest-${randomUUID()}@example.com`, role: 'viewer' }),
  },
  'DELETE /api/v1/invitations/{invitation_id}': { access: 'users' },

  // The log of what was done.
  'GET /api/v1/audit-log': {
    access: 'admin',
    query: id => ({ target_type: 'source', target_id: id('source') }),
  },
  'GET /api/v1/audit-log/verify': { access: 'admin' },

  // API keys.
  'GET /api/v1/api-keys': { access: 'keys' },
  'POST /api/v1/api-keys': { access: 'keys', body: () => ({ name: 'another', scope: 'read-only' }) },
  'GET /api/v1/api-keys/usage': { access: 'keys' },
  'GET /api/v1/api-keys/{key_id}': { access: 'keys' },
  'DELETE /api/v1/api-keys/{key_id}': { access: 'keys' },

  // Sources, tables and what runs for them.
  'GET /api/v1/assets': { access: 'read' },
  'GET /api/v1/assets/{asset_id}': { access: 'read' },
  'GET /api/v1/assets/{asset_id}/freshness': { access: 'read' },
  'GET /api/v1/assets/{asset_id}/schema-changes': { access: 'read' },
  'GET /api/v1/sdk/assets': { access: 'read' },
  'POST /api/v1/sdk/assets': {
    access: 'write',
    body: () => ({
      name: 'elsewhere',
      source_type: 'postgresql',
      connection_config: { host: '10.0.0.1', database: 'x', username: 'x', password: 'x' },
    }),
  },
  'GET /api/v1/sdk/assets/{asset_id}': { access: 'read' },
  'PATCH /api/v1/sdk/assets/{asset_id}': {
    access: 'write',
    at: sources,
    body: () => ({ description: 'ours' }),
  },
  'DELETE /api/v1/sdk/assets/{asset_id}': { access: 'write', at: sources },
  'POST /api/v1/sdk/assets/{asset_id}/check': { access: 'write', at: sources },
  'POST /api/v1/sdk/assets/{asset_id}/profile': { access: 'write' },
  'GET /api/v1/sdk/assets/{asset_id}/parts': { access: 'read' },
  'PATCH /api/v1/sdk/assets/{asset_id}/parts': { access: 'write', body: () => ({ reads: 'whole' }) },
  'GET /api/v1/sdk/assets/{asset_id}/profile': { access: 'read' },
  'GET /api/v1/sdk/assets/{asset_id}/profiles': { access: 'read' },
  'POST /api/v1/sdk/assets/{asset_id}/discover': { access: 'write', at: sources },
  'POST /api/v1/sdk/assets/{asset_id}/test-connection': { access: 'write', at: sources },
  'POST /api/v1/sdk/assets/{asset_id}/watch': {
    access: 'write',
    at: sources,
    body: () => ({ row_count: true, freshness: true, keys: true }),
  },
  'GET /api/v1/sdk/assets/{asset_id}/watch': { access: 'read', at: sources },
  // It has no policy.
  'DELETE /api/v1/sdk/assets/{asset_id}/watch': { access: 'write', at: sources, answers: 404 },
  'GET /api/v1/sdk/assets/{asset_id}/usage': { access: 'read', at: sources },
  'GET /api/v1/sdk/jobs/{job_id}': { access: 'read' },
  'POST /api/v1/sdk/jobs/{job_id}/cancel': { access: 'write' },

  // Drift and tags.
  'GET /api/v1/sdk/schema/changes': { access: 'read', query: onTable },
  'POST /api/v1/sdk/schema/changes/{change_id}/acknowledge': { access: 'write' },
  'POST /api/v1/sdk/schema/dry-run': { access: 'read', body: id => ({ asset_id: id('source') }) },
  'GET /api/v1/sdk/schema/summary': { access: 'read', query: onTable },
  'GET /api/v1/sdk/schema/{asset_id}': { access: 'read' },
  'POST /api/v1/sdk/schema/{asset_id}/acknowledge': {
    access: 'write',
    body: id => ({ change_ids: [id('change')] }),
  },
  'POST /api/v1/sdk/schema/{asset_id}/baseline': { access: 'write', at: sources },
  'POST /api/v1/sdk/schema/{asset_id}/monitoring': { access: 'write', at: sources },
  'DELETE /api/v1/sdk/schema/{asset_id}/monitoring': { access: 'write', at: sources },
  'GET /api/v1/sdk/tags': { access: 'read', query: onTable },
  'POST /api/v1/sdk/tags': { access: 'write', body: id => ({ ...onTable(id), name: 'finance' }) },
  'POST /api/v1/sdk/tags/apply': {
    access: 'write',
    body: id => ({ asset_id: id('source'), tag_names: ['finance'], object_paths: ['public.orders'] }),
  },
  'POST /api/v1/sdk/tags/bulk-apply': {
    access: 'write',
    body: id => ({ tag_name: 'finance', asset_ids: [id('table')] }),
    isPartial: true,
  },
  'DELETE /api/v1/sdk/tags/{id}': { access: 'write', ...is('tag') },

  // Badges.
  'GET /api/v1/sdk/usage/tables': { access: 'read', query: onTable },
  'GET /api/v1/sdk/badges': { access: 'read', query: onTable },
  'POST /api/v1/sdk/badges': { access: 'write', body: onTable },
  'GET /api/v1/sdk/badges/{id}': { access: 'read', ...is('badge') },
  'GET /api/v1/sdk/badges/{id}/status': { access: 'read', ...is('badge') },
  'PUT /api/v1/sdk/badges/{id}': { access: 'write', ...is('badge'), body: onTable },
  'DELETE /api/v1/sdk/badges/{id}': { access: 'write', ...is('badge') },
  'GET /api/v1/sdk/monitors/{asset_id}': { access: 'read', at: sources },
  'POST /api/v1/sdk/monitors/{asset_id}/plan': { access: 'read', at: sources, body: monitorsFiles },
  'POST /api/v1/sdk/monitors/{asset_id}/apply': { access: 'write', at: sources, body: monitorsFiles },
  'GET /api/public/schemas/monitors.json': { access: 'open' },
  'GET /api/v1/sdk/operations': { access: 'admin' },
  'GET /api/v1/sdk/operations/dead-jobs': { access: 'admin' },
  'POST /api/v1/sdk/operations/dead-jobs/redrive': { access: 'admin', body: () => ({ all: true }) },
  'POST /api/v1/sdk/operations/dead-jobs/discard': { access: 'admin', body: () => ({ all: true }) },
  'GET /api/v1/sdk/contracts': { access: 'read', query: onTable },
  'PUT /api/v1/sdk/contracts/{name}': {
    access: 'write',
    at: { name: '=orders' },
    body: id => ({ contract: CONTRACT, source: id('source') }),
  },
  'POST /api/v1/sdk/contracts/{name}/plan': {
    access: 'write',
    at: { name: '=orders' },
    body: id => ({ contract: CONTRACT, source: id('source') }),
  },
  'GET /api/v1/sdk/contracts/{name}': { access: 'read', ...onContract },
  'GET /api/v1/sdk/contracts/{name}/history': { access: 'read', ...onContract },
  'DELETE /api/v1/sdk/contracts/{name}': { access: 'write', ...onContract },
  'POST /api/v1/sdk/assets/{asset_id}/contract-test': {
    access: 'write',
    at: { asset_id: 'source' },
    body: () => ({ contract: CONTRACT }),
  },
  'GET /api/v1/sdk/assets/{asset_id}/contract-draft': { access: 'read' },
  'POST /api/v1/contracts/validate': { access: 'read', body: () => ({ contract: CONTRACT }) },
  'POST /api/v1/contracts/{asset_id}/plan': { access: 'read', body: () => ({ contract: CONTRACT }) },
  'POST /api/v1/contracts/{asset_id}/apply': { access: 'write', body: () => ({ contract: CONTRACT }) },
  'GET /api/v1/contracts/{asset_id}/export': { access: 'read' },
  'POST /api/v1/contracts/export-jobs': {
    access: 'write',
    body: id => ({ scope: 'assets', asset_public_ids: [id('table')] }),
  },
  'GET /api/v1/contracts/export-jobs/{id}': { access: 'read', ...is('contractExport') },
  'GET /api/v1/contracts/export-jobs/{id}/download': {
    access: 'read',
    ...is('contractExport'),
    answers: 409,
  },
  'GET /api/v1/sdk/chart-links': { access: 'read', query: onTable },
  'POST /api/v1/sdk/chart-links': {
    access: 'write',
    body: id => ({ asset_id: id('table'), check_id: id('metric') }),
  },
  'DELETE /api/v1/sdk/chart-links/{id}': { access: 'write', ...is('chartLink') },

  // Impact.
  'POST /api/v1/sdk/lineage/impact': {
    access: 'read',
    body: id => ({ source: id('source'), changes: [{ change: 'drop_table', table: 'public.orders' }] }),
  },
  'GET /api/v1/sdk/schema/changes/{change_id}/impact': { access: 'read' },
  'GET /api/v1/sdk/alerts/{id}/impact': { access: 'read', ...is('alert') },

  // Owners.
  'GET /api/v1/sdk/teams': { access: 'read' },
  'POST /api/v1/sdk/teams': {
    access: 'write',
    body: () => ({ name: randomUUID(), members: ['jane@example.com'] }),
  },
  'GET /api/v1/sdk/teams/{id}': { access: 'read', ...is('team') },
  'PATCH /api/v1/sdk/teams/{id}': { access: 'write', ...is('team'), body: () => ({ description: 'Books' }) },
  'DELETE /api/v1/sdk/teams/{id}': { access: 'write', ...is('team') },
  'GET /api/v1/sdk/owners': { access: 'read', query: onTable },
  'PUT /api/v1/sdk/owners': {
    access: 'write',
    body: id => ({ asset_id: id('table'), owners: ['jane@example.com'] }),
  },
  'DELETE /api/v1/sdk/owners/{id}': { access: 'write', ...is('ownership') },
  'GET /api/v1/sdk/owners/assets': { access: 'read', query: () => ({ owner: 'jane@example.com' }) },
  'GET /api/v1/sdk/assets/{asset_id}/owners': { access: 'read' },

  // Freshness.
  'GET /api/v1/freshness': { access: 'read', query: id => ({ asset: id('table') }) },
  'GET /api/v1/sdk/freshness': { access: 'read', query: onTable },
  'GET /api/v1/sdk/freshness/schedules': { access: 'read', query: onTable },
  'POST /api/v1/sdk/freshness/schedules': {
    access: 'write',
    body: id => ({ asset_id: id('source'), table_path: 'customers', freshness_column: 'seen_at' }),
  },
  'POST /api/v1/sdk/freshness/schedules/bulk': {
    access: 'write',
    body: id => ({ asset_id: id('source'), dry_run: true }),
  },
  'PATCH /api/v1/sdk/freshness/schedules/{id}': {
    access: 'write',
    ...is('schedule'),
    body: () => ({ is_active: false }),
  },
  'DELETE /api/v1/sdk/freshness/schedules/{id}': { access: 'write', ...is('schedule') },
  'POST /api/v1/sdk/freshness/dry-run': {
    access: 'read',
    body: id => ({ ...onTable(id), expected_interval_hours: 24 }),
  },
  'GET /api/v1/sdk/freshness/summary': { access: 'read', query: onTable },
  'GET /api/v1/sdk/freshness/{asset_id}': { access: 'read' },
  'GET /api/v1/sdk/freshness/{asset_id}/history': { access: 'read' },
  'POST /api/v1/sdk/freshness/{asset_id}/refresh': { access: 'write' },

  'GET /api/v1/sdk/search': { access: 'read', query: () => ({ q: 'orders' }) },
  'GET /api/v1/sdk/checks': { access: 'read' },
  'GET /api/v1/sdk/checks/{asset_id}': { access: 'read' },
  'GET /api/v1/sdk/source-types': { access: 'read' },
  'POST /api/v1/sdk/assets/{asset_id}/preview-tables': { access: 'write', at: sources, body: () => ({}) },
  'GET /api/v1/sdk/check-types': { access: 'read' },
  'GET /api/v1/sdk/alerts/destination-types': { access: 'read' },

  // Validity.
  'POST /api/v1/sdk/validity/dry-run': { access: 'read', body: id => ({ ...rule, ...onTable(id) }) },
  'GET /api/v1/sdk/validity/{asset_id}': { access: 'read' },
  'POST /api/v1/sdk/validity/{asset_id}': {
    access: 'write',
    body: id => ({ ...rule, operating_period_mode: 'schedule', operating_schedule_id: id('hours') }),
  },
  'POST /api/v1/sdk/validity/{asset_id}/bulk': {
    access: 'write',
    body: () => ({ rule_type: 'UNIQUE', table_path: rule.table_path, column_names: ['id'] }),
  },
  'GET /api/v1/sdk/validity/{asset_id}/summary': { access: 'read' },
  'GET /api/v1/sdk/validity/{asset_id}/{rule_id}': { access: 'read' },
  'PATCH /api/v1/sdk/validity/{asset_id}/{rule_id}': {
    access: 'write',
    body: id => ({ operating_period_mode: 'schedule', operating_schedule_id: id('hours') }),
  },
  'DELETE /api/v1/sdk/validity/{asset_id}/{rule_id}': { access: 'write', at: { rule_id: 'ruleNumber' } },
  'POST /api/v1/sdk/validity/{asset_id}/{rule_id}/check': { access: 'write' },
  'GET /api/v1/sdk/validity/{asset_id}/{rule_id}/results': { access: 'read', at: { rule_id: 'ruleNumber' } },

  // Metrics.
  'POST /api/v1/sdk/metrics/dry-run': { access: 'read', body: id => ({ ...metric, ...onTable(id) }) },
  'GET /api/v1/sdk/metrics/{asset_id}': { access: 'read' },
  'POST /api/v1/sdk/metrics/{asset_id}': { access: 'write', body: () => metric },
  'POST /api/v1/sdk/metrics/{asset_id}/bulk': {
    access: 'write',
    body: () => ({ metric_type: 'null_percent', table_path: metric.table_path, column_names: ['id'] }),
  },
  'GET /api/v1/sdk/metrics/{asset_id}/summary': { access: 'read' },
  'GET /api/v1/sdk/metrics/{asset_id}/{metric_id}': { access: 'read' },
  'PATCH /api/v1/sdk/metrics/{asset_id}/{metric_id}': { access: 'write', body: () => ({ sensitivity: 2 }) },
  'DELETE /api/v1/sdk/metrics/{asset_id}/{metric_id}': { access: 'write' },
  'POST /api/v1/sdk/metrics/{asset_id}/{metric_id}/capture': { access: 'write' },
  'GET /api/v1/sdk/metrics/{asset_id}/{metric_id}/snapshots': {
    access: 'read',
    at: { metric_id: 'metricNumber' },
  },

  // Referential checks, comparisons and operating schedules.
  'POST /api/v1/sdk/referential/dry-run': {
    access: 'read',
    body: id => ({ ...reference, asset_id: id('source') }),
  },
  'GET /api/v1/sdk/referential/{asset_id}': { access: 'read' },
  'POST /api/v1/sdk/referential/{asset_id}': {
    access: 'write',
    body: () => reference,
  },
  'GET /api/v1/sdk/referential/{asset_id}/summary': { access: 'read' },
  'GET /api/v1/sdk/referential/{asset_id}/{check_id}': { access: 'read' },
  'PATCH /api/v1/sdk/referential/{asset_id}/{check_id}': { access: 'write', body: () => ({ name: 'x' }) },
  'DELETE /api/v1/sdk/referential/{asset_id}/{check_id}': { access: 'write' },
  'POST /api/v1/sdk/referential/{asset_id}/{check_id}/execute': { access: 'write' },
  'GET /api/v1/sdk/referential/{asset_id}/{check_id}/results': { access: 'read' },
  'POST /api/v1/sdk/comparisons/dry-run': {
    access: 'read',
    body: id => ({ ...comparison, asset_id: id('source') }),
  },
  'GET /api/v1/sdk/comparisons/{asset_id}': { access: 'read' },
  'POST /api/v1/sdk/comparisons/{asset_id}': { access: 'write', body: () => comparison },
  'GET /api/v1/sdk/comparisons/{asset_id}/summary': { access: 'read' },
  'GET /api/v1/sdk/comparisons/{asset_id}/{comparison_id}': { access: 'read' },
  'PATCH /api/v1/sdk/comparisons/{asset_id}/{comparison_id}': {
    access: 'write',
    body: () => ({ name: 'x' }),
  },
  'DELETE /api/v1/sdk/comparisons/{asset_id}/{comparison_id}': { access: 'write' },
  'POST /api/v1/sdk/comparisons/{asset_id}/{comparison_id}/execute': { access: 'write' },
  'GET /api/v1/sdk/comparisons/{asset_id}/{comparison_id}/results': { access: 'read' },
  'GET /api/v1/operating-schedules': { access: 'read' },
  'POST /api/v1/operating-schedules': { access: 'write', body: () => hours },
  'GET /api/v1/operating-schedules/{schedule_id}': { access: 'read' },
  'GET /api/v1/operating-schedules/{schedule_id}/uses': { access: 'read' },
  'PATCH /api/v1/operating-schedules/{schedule_id}': { access: 'write', body: () => ({ name: 'day' }) },
  'DELETE /api/v1/operating-schedules/{schedule_id}': { access: 'write' },

  // Alerts, their rules and where they go.
  'GET /api/v1/sdk/alerts': { access: 'read', query: onTable },
  'GET /api/v1/sdk/alerts/inbox': { access: 'read', query: onTable },
  'GET /api/v1/sdk/alerts/summary': { access: 'read' },
  'GET /api/v1/sdk/alerts/trends': { access: 'read', query: onTable },
  'GET /api/v1/sdk/alerts/{id}': { access: 'read', ...is('alert') },
  'PATCH /api/v1/sdk/alerts/{id}': {
    access: 'write',
    ...is('alert'),
    body: id => ({ assignee_id: id('user') }),
  },
  'GET /api/v1/sdk/alerts/{id}/history': { access: 'read', ...is('alert') },
  'GET /api/v1/sdk/alerts/{id}/activities': { access: 'read', ...is('alert') },
  'POST /api/v1/sdk/alerts/{id}/comment': {
    access: 'write',
    ...is('alert'),
    body: () => ({ comment: 'x' }),
  },
  'GET /api/v1/sdk/alerts/{id}/deliveries': { access: 'read', ...is('alert') },
  'POST /api/v1/sdk/alerts/{id}/acknowledge': { access: 'write', ...is('alert') },
  'POST /api/v1/sdk/alerts/{id}/dismiss': { access: 'write', ...is('alert') },
  'POST /api/v1/sdk/alerts/{id}/resolve': { access: 'write', ...is('alert') },
  'POST /api/v1/sdk/alerts/{id}/snooze': {
    access: 'write',
    ...is('alert'),
    body: () => ({ duration_minutes: 5 }),
  },
  'GET /api/v1/sdk/incidents': {
    access: 'read',
    query: id => ({ asset_id: id('table'), alert_id: id('alert') }),
  },
  'GET /api/v1/sdk/incidents/summary': { access: 'read' },
  'GET /api/v1/sdk/briefings/today': { access: 'read' },
  'GET /api/v1/sdk/alerts/investigations/{id}': { access: 'read', ...is('incident') },
  'POST /api/v1/sdk/alerts/investigations/explain': { access: 'read', body: onTable },
  'GET /api/v1/sdk/incidents/{id}': { access: 'read', ...is('incident') },
  'GET /api/v1/sdk/incidents/{id}/activities': { access: 'read', ...is('incident') },
  'PATCH /api/v1/sdk/incidents/{id}': {
    access: 'write',
    ...is('incident'),
    body: id => ({ assignee_id: id('user') }),
  },
  'POST /api/v1/sdk/incidents/{id}/comment': {
    access: 'write',
    ...is('incident'),
    body: () => ({ comment: 'x' }),
  },
  'POST /api/v1/sdk/incidents/{id}/split': {
    access: 'write',
    ...is('incident'),
    body: id => ({ alert_ids: [id('alert')] }),
    // It has no other alert.
    answers: 409,
  },
  'POST /api/v1/sdk/incidents/{id}/merge': {
    access: 'write',
    ...is('incident'),
    body: id => ({ into: id('incident') }),
    answers: 409,
  },
  'POST /api/v1/sdk/incidents/{id}/send': {
    access: 'write',
    ...is('incident'),
    body: id => ({ destination_id: id('destination') }),
  },
  'POST /api/v1/sdk/incidents/{id}/acknowledge': { access: 'write', ...is('incident') },
  'POST /api/v1/sdk/incidents/{id}/dismiss': { access: 'write', ...is('incident') },
  'POST /api/v1/sdk/incidents/{id}/resolve': { access: 'write', ...is('incident') },
  'POST /api/v1/sdk/incidents/{id}/snooze': {
    access: 'write',
    ...is('incident'),
    body: () => ({ duration_minutes: 5 }),
  },
  'GET /api/v1/sdk/alerts/mute-windows': { access: 'read' },
  'POST /api/v1/sdk/alerts/mute-windows': {
    access: 'write',
    body: id => ({
      name: 'x',
      asset_ids: [id('table')],
      ends_at: '2999-01-01T00:00:00Z',
      starts_at: '2998-12-01T00:00:00Z',
    }),
  },
  'GET /api/v1/sdk/alerts/mute-windows/{id}': { access: 'read', ...is('muteWindow') },
  'PATCH /api/v1/sdk/alerts/mute-windows/{id}': {
    access: 'write',
    ...is('muteWindow'),
    body: id => ({ asset_ids: [id('table')] }),
  },
  'DELETE /api/v1/sdk/alerts/mute-windows/{id}': { access: 'write', ...is('muteWindow') },
  'GET /api/v1/sdk/alerts/digests': { access: 'read' },
  'POST /api/v1/sdk/alerts/digests': {
    access: 'write',
    body: id => ({ name: 'x', destination_id: id('destination') }),
  },
  'POST /api/v1/sdk/alerts/digests/preview': { access: 'read', body: () => ({ frequency: 'daily' }) },
  'GET /api/v1/sdk/alerts/digests/{id}': { access: 'read', ...is('digest') },
  'PATCH /api/v1/sdk/alerts/digests/{id}': {
    access: 'write',
    ...is('digest'),
    body: id => ({ destination_id: id('destination') }),
  },
  'DELETE /api/v1/sdk/alerts/digests/{id}': { access: 'write', ...is('digest') },
  'POST /api/v1/sdk/alerts/digests/{id}/send': { access: 'write', ...is('digest') },
  'GET /api/v1/sdk/alerts/rules': {
    access: 'read',
    query: id => ({ destination_id: id('destination') }),
  },
  'POST /api/v1/sdk/alerts/preview': {
    access: 'read',
    body: id => ({
      rule_id: id('alertRule'),
      destination_ids: [id('destination')],
      asset_ids: [id('table')],
    }),
  },
  'POST /api/v1/sdk/alerts/rules': {
    access: 'write',
    body: id => ({ name: 'x', destination_ids: [id('destination')], asset_ids: [id('table')] }),
  },
  'GET /api/v1/sdk/alerts/rules/{id}': { access: 'read', ...is('alertRule') },
  'PATCH /api/v1/sdk/alerts/rules/{id}': {
    access: 'write',
    ...is('alertRule'),
    body: id => ({ destination_ids: [id('destination')], asset_ids: [id('source')] }),
  },
  'PUT /api/v1/sdk/alerts/rules/{id}': {
    access: 'write',
    ...is('alertRule'),
    body: id => ({ destination_ids: [id('destination')], asset_ids: [id('source')] }),
  },
  'GET /api/v1/sdk/alerts/rules/{id}/destinations': { access: 'read', ...is('alertRule') },
  'POST /api/v1/sdk/alerts/rules/{id}/destinations': {
    access: 'write',
    ...is('alertRule'),
    body: id => ({ destination_ids: [id('destination')] }),
  },
  'DELETE /api/v1/sdk/alerts/rules/{id}/destinations/{destination_id}': {
    access: 'write',
    at: { id: 'alertRule', destination_id: 'destination' },
    // An active rule keeps its last destination.
    answers: 409,
  },
  'DELETE /api/v1/sdk/alerts/rules/{id}': { access: 'write', ...is('alertRule') },
  'GET /api/v1/sdk/alerts/destinations': { access: 'read' },
  'POST /api/v1/sdk/alerts/destinations': {
    access: 'write',
    body: () => ({
      name: 'Other',
      destination_type: 'webhook',
      config: { url: 'https://127.0.0.1:9/other' },
    }),
  },
  'GET /api/v1/sdk/alerts/destinations/{id}': { access: 'read', ...is('destination') },
  'PATCH /api/v1/sdk/alerts/destinations/{id}': {
    access: 'write',
    ...is('destination'),
    body: () => ({ name: 'Renamed' }),
  },
  'PUT /api/v1/sdk/alerts/destinations/{id}': {
    access: 'write',
    ...is('destination'),
    body: () => ({ name: 'Renamed' }),
  },
  'POST /api/v1/sdk/alerts/destinations/bulk': {
    access: 'write',
    body: () => ({
      destinations: [
        { name: 'One of several', destination_type: 'webhook', config: { url: 'https://example.com/hook' } },
      ],
    }),
  },
  'DELETE /api/v1/sdk/alerts/destinations/{id}': { access: 'write', ...is('destination') },
  'GET /api/v1/sdk/alerts/destinations/{id}/deliveries': { access: 'read', ...is('destination') },
  'POST /api/v1/sdk/alerts/destinations/{id}/rotate-secret': { access: 'write', ...is('destination') },
  'POST /api/v1/sdk/alerts/destinations/{id}/test': { access: 'write', ...is('destination') },
  'POST /api/v1/sdk/alerts/deliveries/{id}/redeliver': { access: 'write', ...is('delivery') },
}
