import t, { type Test } from 'tap'
import type { Operation } from '../../../server/openapi/document.ts'
import type { openApi } from '../../../server/openapi/openapi.ts'
import { withoutReferences } from '../../helpers/references.ts'
import { startServer } from '../../helpers/server.ts'

/**
 * The tables of endpoints of the API specification: method, path, who may call it (`-` any caller, `T` with a token), and what
 * it says of the query. `name=4..9?5` is an integer from 4 to 9 that is 5 when left out; `!` after a name: required.
 */
const SPECIFIED = `
GET    /health                                                  -
GET    /api/v1/health                                           -
GET    /badges/{public_id}.svg                                  -
GET    /api/public/unsubscribe                                  - email! token!
POST   /api/public/unsubscribe                                  - email! token! action?unsubscribe
GET    /api/public/docs/{path}.md                               -
POST   /api/public/magic-login                                  -
POST   /api/public/events                                       -
GET    /api/public/beta/status                                  -
POST   /api/public/beta/signup                                  -
POST   /api/public/contracts/validate                           -
POST   /api/v1/auth/login                                       -
PUT    /api/v1/auth/tokens/current                              -
POST   /api/v1/auth/logout                                      T
POST   /api/v1/auth/register                                    -
GET    /api/v1/auth/me                                          T
PATCH  /api/v1/auth/me                                          T
POST   /api/v1/auth/change-password                             T
GET    /api/v1/auth/preferences                                 T
PATCH  /api/v1/auth/preferences                                 T
DELETE /api/v1/auth/preferences                                 T
GET    /api/v1/auth/preferences/{preference_key}                T
GET    /api/v1/auth/preferences/onboarding                      T
PATCH  /api/v1/auth/preferences/onboarding                      T
PATCH  /api/v1/auth/preferences/onboarding/step                 T
POST   /api/v1/auth/preferences/onboarding/reset                T
POST   /api/v1/auth/preferences/onboarding/demo-asset           T
POST   /api/v1/auth/preferences/onboarding/demo-lineage         T
POST   /api/v1/auth/preferences/onboarding/demo-alert           T
DELETE /api/v1/auth/preferences/onboarding/demo-alert           T
POST   /api/v1/auth/preferences/onboarding/demo-destination     T
POST   /api/v1/auth/preferences/onboarding/events               T
GET    /api/v1/oauth/{provider_type}/authorize                  -
GET    /api/v1/assets                                           T limit=1..100?50 offset=0..?0 source
GET    /api/v1/freshness                                        T asset!
GET    /api/v1/assets/{asset_id}                                T include_columns?true
GET    /api/v1/assets/{asset_id}/schema-changes                 T days_back=1..365?30 change_type limit?100
GET    /api/v1/assets/{asset_id}/freshness                      T limit=1..100 offset=0.. status schema tag search
GET    /api/v1/sdk/validity/{asset_id}/summary                  T
GET    /api/v1/sdk/validity/{asset_id}                          T rule_type is_active limit=1..100?50 offset=0..?0
GET    /api/v1/sdk/validity/{asset_id}/{rule_id}                T
POST   /api/v1/sdk/validity/{asset_id}                          T
PATCH  /api/v1/sdk/validity/{asset_id}/{rule_id}                T
DELETE /api/v1/sdk/validity/{asset_id}/{rule_id}                T
POST   /api/v1/sdk/validity/{asset_id}/{rule_id}/check          T
GET    /api/v1/sdk/validity/{asset_id}/{rule_id}/results        T limit?100 offset=0..?0
GET    /api/v1/sdk/metrics/{asset_id}/summary                   T
GET    /api/v1/sdk/metrics/{asset_id}                           T metric_type is_active limit=1..100?50 offset=0..?0
GET    /api/v1/sdk/metrics/{asset_id}/{metric_id}               T include_snapshots?true snapshot_limit?30
POST   /api/v1/sdk/metrics/{asset_id}                           T
PATCH  /api/v1/sdk/metrics/{asset_id}/{metric_id}               T
DELETE /api/v1/sdk/metrics/{asset_id}/{metric_id}               T
POST   /api/v1/sdk/metrics/{asset_id}/{metric_id}/capture       T
GET    /api/v1/sdk/metrics/{asset_id}/{metric_id}/snapshots     T limit?100 offset=0..?0
GET    /openapi.json                                            -
GET    /docs                                                    -
GET    /redoc                                                   -
`

/** Routes that the specification does not name, and why they are there. */
const OURS: [pattern: RegExp, reason: string][] = [
  [
    /^GET \/(guide|guide\/\{page\}|catalog|checks|changes|connect|recommendations|(settings|contracts)\/\{id\})$|^\w+ \/console\//,
    'the console and the start of the documentation',
  ],
  [/^GET \/api\/public\/magic-login$/, 'the page of the link'],
  [/^\w+ \/api\/v1\/sdk\/assets(\/|$)/, 'sources are made and kept: decisions 2'],
  [/^\w+ \/api\/v1\/sdk\/jobs\//, 'what became of a discovery or a refresh: decisions 2'],
  [/^\w+ \/api\/v1\/sdk\/schema\//, 'baselines, schedules and all changes: decisions 3'],
  [/^\w+ \/api\/v1\/sdk\/freshness(\/|$)/, 'schedules, refreshes and lists: decisions 4'],
  [
    /^\w+ \/api\/v1\/sdk\/monitors\/|^GET \/api\/public\/schemas\/monitors\.json$/,
    'checks that stand in files, and their schema for editors',
  ],
  [/^\w+ \/api\/v1\/sdk\/(owners|teams)(\/|$)/, 'who owns what, and to whom alerts go'],
  [/^\w+ \/api\/v1\/sdk\/coverage\//, 'which tables are watched, for the published client: decisions 16'],
  [
    /^\w+ \/api\/v1\/sdk\/recommendations(\/|$)/,
    'recommended checks, and what published clients read of them',
  ],
  [/^\w+ \/api\/v1\/sdk\/operations(\/|$)/, 'the jobs of a company, for its admins'],
  [
    /^GET \/api\/v1\/sdk\/health\/(overview|events\/\{asset_id\})$/,
    'incidents, trend, quality and what happened to a table, for the console',
  ],
  [/^GET \/api\/v1\/sdk\/usage\/tables$/, 'which tables cost most, for the console'],
  [
    /^\w+ \/api\/v1\/sdk\/chart-links(\/|$)|^GET \/charts\/\{token\}$/,
    'charts for people without an account',
  ],
  [
    /^\w+ \/api\/v1\/sdk\/(contracts(\/|$)|assets\/\{asset_id\}\/contract-)|^GET \/badges\/contracts\//,
    'contracts that are enforced',
  ],
  [/^\w+ \/api\/v1\/contracts\//, 'contracts in the shapes of the published client'],
  [/^GET \/api\/v1\/sdk\/briefings\/today$/, 'a summary of the day, for the published client'],
  [/^\w+ \/api\/v1\/sdk\/incidents(\/|$)/, 'alerts that belong together, for the published client too'],
  [/^GET \/api\/v1\/sdk\/search$/, 'one search over the catalog, for the console'],
  [
    /^GET \/api\/v1\/sdk\/checks(\/\{asset_id\})?$/,
    'the checks of all kinds together, for a screen of the console',
  ],
  [
    /^GET \/api\/v1\/sdk\/(source|check)-types$/,
    'what a source or a check can be made of, for forms that know no engine',
  ],
  [
    /^POST \/api\/v1\/sdk\/(validity|metrics|referential|comparisons)\/dry-run$/,
    'to try before storing: decisions 5',
  ],
  [
    /^POST \/api\/v1\/sdk\/(validity|metrics)\/\{asset_id\}\/bulk$/,
    'one check for each of several columns, for a form of the console',
  ],
  [
    /^\w+ \/api\/v1\/sdk\/(validity|metrics)\/\{asset_id\}\/.+\/feedback$/,
    'whether a finding was one: detection',
  ],
  [/^\w+ \/api\/v1\/sdk\/comparisons\//, 'comparisons of two tables: decisions 17'],
  [
    /^\w+ \/api\/v1\/sdk\/referential\//,
    'referential checks: decisions 5, named in the specification without shape',
  ],
  [/^\w+ \/api\/v1\/operating-schedules(\/|$)/, 'the schedules that rules refer to: decisions 5'],
  [/^\w+ \/api\/v1\/sdk\/alerts(\/|$)/, 'alerts, rules and destinations: decisions 6'],
  [/^POST \/api\/v1\/lineage(\/batch)?$/, 'where clients of OpenLineage send events to'],
  [/^\w+ \/api\/v1\/sdk\/(tags|lineage|badges)(\/|$)/, 'published clients read them: decisions 8 and 9'],
  [/^\w+ \/api\/v1\/sdk\/health\/summary$/, 'published clients read it: decisions 9'],
  [/^\w+ \/api\/v1\/api-keys(\/|$)/, 'keys: decisions 7, named in the specification without an endpoint'],
  [/^\w+ \/api\/v1\/(users|invitations)(\/|$)/, 'the people of a company: decisions 7 and 12'],
  [/^GET \/api\/v1\/audit-log/, 'who did what: access'],
  [
    /^GET \/api\/v1\/oauth\/\{provider_type\}\/callback$/,
    'where a provider sends people back to: decisions 7',
  ],
  [
    /^\w+ \/api\/v1\/oauth\/(links|\{provider_type\}\/link)$|^POST \/api\/v1\/auth\/remove-password$/,
    'linking providers: decisions 16',
  ],
  [
    /^POST \/api\/v1\/auth\/(password-resets|reset-password|invitation)$/,
    'a new password by mail, and who was invited: access',
  ],
  [/^POST \/api\/v1\/auth\/tickets$/, 'tickets of magic links and providers: decisions 12'],
  [/^POST \/api\/v1\/demo\/session$/, 'a look without signing up: decisions 7'],
  [/^GET \/(docs|redoc)\/.+/, 'files of the references'],
  [/^GET \/(assets\/.+|favicon\.\w+|robots\.txt)?$/, 'the start page and what it is made of'],
  [
    /^GET \/(alerts|incidents|tables|sources|routing|schedules)\/\{id\}$|^GET \/(invitation|register|forgot|reset)$/,
    'what links in messages open',
  ],
]

const { server, ask } = await startServer(t)
const served = withoutReferences((await ask('GET', '/openapi.json')).body as ReturnType<typeof openApi>)
const table = server.table().map(({ method, path, settings }) => {
  const described = settings.app?.path ?? path.replaceAll(/\{(\w+)[^}]*\}/g, '{$1}')
  return `${method.toUpperCase()} ${described}`
})
const specified = SPECIFIED.trim()
  .split('\n')
  .map(line => {
    const [method = '', path = '', who = '', ...query] = line.split(/\s+/)
    return { method, path, isOpen: who === '-', query }
  })
const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`

t.test(
  'every endpoint of the specification is served and described, with its query and who may ask',
  async t => {
    t.equal(specified.length, 57)
    for (const endpoint of specified) {
      const name = nameOf(endpoint)
      t.ok(table.includes(name), `${name} is served`)
      const operation = served.paths[endpoint.path]?.[endpoint.method.toLowerCase()]
      t.ok(operation, `${name} is described`)
      if (!operation) continue
      t.equal(operation.security.length === 0, endpoint.isOpen, `${name}: who may ask`)
      for (const parameter of endpoint.query) checkParameter(t, name, operation, parameter)
    }
  },
)

interface Parameter {
  name: string
  in: string
  required?: boolean
  schema: { minimum?: number; maximum?: number; default?: unknown }
}

function checkParameter(
  t: Pick<Test, 'ok' | 'equal'>,
  name: string,
  { parameters = [] }: Operation,
  text: string,
) {
  const [, called = '', required, low, high, fallback] =
    /^(\w+)(!)?(?:=(\d+)\.\.(\d*))?(?:\?(\w+))?$/.exec(text) ?? []
  const found = (parameters as Parameter[]).find(
    ({ name, in: place }) => name === called && place === 'query',
  )
  t.ok(found, `${name} takes ${called}`)
  if (!found) return
  t.equal(found.required ?? false, required === '!', `${name}: whether ${called} is required`)
  const { minimum, maximum, default: given } = found.schema
  if (low) t.equal(minimum, Number(low), `${name}: ${called} at least`)
  if (high) t.equal(maximum, Number(high), `${name}: ${called} at most`)
  if (fallback) t.equal(String(given), fallback, `${name}: ${called} when left out`)
}

t.test('what else is served has a reason', async t => {
  const names = new Set(specified.map(nameOf))
  const others = table.filter(name => !names.has(name))
  for (const name of others)
    t.ok(
      OURS.some(([pattern]) => pattern.test(name)),
      name,
    )
  const described = Object.entries(served.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
  )
  t.strictSame(described.sort(), [...table].sort(), 'and all of it is described')
})
