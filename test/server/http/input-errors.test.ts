/** What a refusal of input promises: one list of fields in one spelling, with sentences in plain English. */
import t from 'tap'
import { openApi } from '../../../server/openapi/openapi.ts'
import { ignoreCredentials } from '../../helpers/log-watch.ts'
import { share } from '../../helpers/share.ts'
import { discover, makeWorld } from '../../helpers/world.ts'
import { wrongRequests, WRONG_TEXTS, type WrongRequest } from '../../helpers/wrong-requests.ts'

// A file that runs in the same process afterwards may log them.
ignoreCredentials(WRONG_TEXTS)
const world = await makeWorld(t, [
  'create table orders (id int primary key, email text, amount numeric, created_at timestamptz)',
  'create table customers (id int primary key, name text)',
])
await discover(world)
const { app, tenant } = world
const { server } = app

interface InputError {
  field: string
  error: string
  candidates?: string[]
}

interface Refusal {
  detail?: { loc: string[]; msg: string }[]
  error: { code: string; message: string; details: Partial<InputError> & { errors?: InputError[] } }
}

/** Words of validators, which no person says of a field. */
const JARGON = [
  /GUID/,
  /\bvalid (uri|date|email)\b/i,
  /\[.*\]/,
  /required pattern|match.*pattern|scheme/,
  /\bpeers?\b/,
  /fails? to match/,
  /^[\w.]+ is not allowed/,
  /less than or equal|greater than or equal/,
  /at least one of/,
  /must be of type|must be an? (string|array|boolean|object|integer)\b/,
  /must contain/,
  /characters long/,
  /does not match any/,
  /(?<![.\w])value must\b/,
  /\bundefined\b|\bNaN\b|object Object/,
  /is not valid$/,
  /custom validation/,
]

/** What breaks a promise in a refusal of input; null when nothing does. */
function problemOf(status: number, body: Refusal): string | null {
  const { detail, error } = body
  const { errors, field, error: first } = error.details
  if (!errors || errors.length === 0) return 'has no list of fields'
  if (field !== errors[0]?.field || first !== errors[0]?.error)
    return 'has another first error in its details'
  for (const each of errors) {
    if (!/^[^\s[\]"]+$/u.test(each.field) && !each.error.includes(`\`${each.field}\``))
      return `spells a field ${each.field}`
    const jargon = JARGON.find(words => words.test(withoutQuotes(each.error)))
    if (jargon) return `says ${jargon}: ${each.error}`
    if (each.error.length > 1_200) return `says ${each.error.length} characters`
    if (!error.message.includes(each.error)) return `leaves ${each.error} out of its message`
    if ((each.candidates?.length ?? 0) > 0 !== each.error.includes('did you mean'))
      return `has other candidates than ${each.error}`
  }
  if ((status === 422) !== (detail !== undefined)) return `has a detail of ${status}`
  const fields = detail?.map(({ loc: [place, ...path] }) => path.join('.') || place)
  return fields && fields.join() !== errors.map(each => each.field).join() ? 'has another detail' : null
}

/** Without what the caller gave, which may be anything. */
function withoutQuotes(text: string): string {
  return text.replaceAll(/`[^`]*`|"(\\.|[^"\\])*"/g, '…')
}

async function send({ method, url, body, operation }: WrongRequest) {
  const credential = operation.security.some(scheme => 'apiKey' in scheme) ? tenant.key : tenant.token
  const { statusCode, payload, headers } = await server.inject({
    method,
    url,
    ...(body !== undefined && { payload: JSON.stringify(body) }),
    headers: {
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(operation.security.length > 0 && { authorization: `Bearer ${credential}` }),
    },
  })
  const isJson = String(headers['content-type']).startsWith('application/json')
  return { status: statusCode, body: isJson ? (JSON.parse(payload) as Refusal) : null }
}

/** Operations that end the session, remove the source of the others, or take long where nothing is wrong. */
const LEFT_OUT = /logout|change-password|^DELETE|\/discover|test-connection|\/refresh\b/

t.test(
  'whatever is wrong with a request, its fields are named in plain English',
  { timeout: 1_200_000 },
  async t => {
    const all = [...wrongRequests(openApi(server, ''), { asset_id: 'shop' })]
    const requests = all.filter(({ name }) => !LEFT_OUT.test(name))
    t.ok(requests.length > 5_000, `${requests.length} requests`)
    const kinds = new Set<string>()
    let refused = 0
    const problems: string[] = []
    for (const [index, request] of share(requests, 'wrong requests').entries()) {
      // None comes to its limit.
      if (index % 20 === 0) await app.query('delete from rate_windows')
      const { status, body } = await send(request)
      const isInput = status === 422 || (status === 400 && body?.error.code === 'VALIDATION_ERROR')
      if (!isInput || !body) continue
      refused++
      kinds.add(`${request.method} ${request.operation.operationId}`)
      const problem = problemOf(status, body)
      if (problem) problems.push(`${request.name} ${problem}: ${JSON.stringify(body).slice(0, 600)}`)
    }
    t.strictSame([...new Set(problems)].slice(0, 20), [])
    t.ok(refused > 20, `${refused} refusals of ${kinds.size} operations`)
  },
)

const ID = '0197f5e2-7c1b-7d3e-9a44-3f6f0a5b9c21'
const V = '/api/v1/sdk/validity/shop'
const rule = { rule_type: 'NOT_NULL', table_path: 'public.orders', column_name: 'email' }
const metric = { metric_type: 'mean', table_path: 'orders', column_name: 'amount' }

/** Request, status, and each field with its sentence. */
const PROMISES: [
  method: string,
  path: string,
  body: unknown,
  status: number,
  errors: [string, RegExp | string][],
][] = [
  ['GET', '/api/v1/sdk/alerts?limit=5000', , 400, [['limit', 'limit must be at most 100, not 5000']]],
  ['GET', '/api/v1/assets?limit=x', , 422, [['limit', 'limit must be a whole number, not "x"']]],
  ['GET', '/api/v1/sdk/alerts?limit=1&limit=2', , 400, [['limit', 'limit is given 2 times: give it once']]],
  [
    'GET',
    '/api/v1/sdk/alerts?severity=info,crit',
    ,
    400,
    [
      [
        'severity',
        'severity must be one or more of info, warning, critical, not "crit"; did you mean `critical`?',
      ],
    ],
  ],
  [
    'GET',
    '/api/v1/sdk/alerts?severty=info',
    ,
    400,
    [['severty', /^unknown query parameter `severty`; did you mean `severity`\? Allowed are limit, /]],
  ],
  [
    'GET',
    `${V}?rule_type=NOTNULL`,
    ,
    400,
    [['rule_type', /^rule_type must be one of NOT_NULL, .*, not "NOTNULL"; did you mean `NOT_NULL`\?$/]],
  ],
  [
    'GET',
    '/api/v1/sdk/alerts/rules?destination_id=7',
    ,
    400,
    [['destination_id', 'destination_id must be a UUID, not "7"']],
  ],
  [
    'POST',
    V,
    { ...rule, rule_typ: 'x' },
    400,
    [['rule_typ', /^unknown field `rule_typ`; did you mean `rule_type`\? Allowed are /]],
  ],
  [
    'POST',
    V,
    { ...rule, rule_type: 'NOTNUL' },
    400,
    [['rule_type', /, not "NOTNUL"; did you mean `NOT_NULL`\?$/]],
  ],
  [
    'POST',
    V,
    { ...rule, table_path: 'ordrs' },
    400,
    [['table_path', /^there is no table `ordrs` in the source shop; did you mean `\w+\.public\.orders`\?$/]],
  ],
  [
    'POST',
    V,
    { ...rule, table_path: 'zzz' },
    400,
    [['table_path', /: check the spelling, or run a discovery$/]],
  ],
  [
    'POST',
    V,
    { ...rule, column_name: 'emial' },
    400,
    [['column_name', /^the table shop\.\w+\.public\.orders has no column `emial`; did you mean `email`\?$/]],
  ],
  [
    'POST',
    V,
    { ...rule, column_name: 'zzz' },
    400,
    [['column_name', /has no column `zzz`; its columns are id, email, amount, created_at$/]],
  ],
  [
    'POST',
    V,
    { ...rule, column_name: undefined },
    400,
    [['column_name', 'column_name is required for NOT_NULL']],
  ],
  [
    'POST',
    V,
    { ...rule, rule_type: 'REGEX', rule_config: { pattern: '(' } },
    400,
    [['rule_config.pattern', /\S/]],
  ],
  [
    'POST',
    V,
    { ...rule, rule_type: 'REGEX', rule_config: { patern: 'a' } },
    400,
    [
      ['rule_config.pattern', 'rule_config.pattern is required'],
      ['rule_config.patern', /^unknown field `rule_config\.patern`; did you mean `pattern`\?/],
    ],
  ],
  [
    'POST',
    V,
    { ...rule, rule_type: 'RANGE', rule_config: {} },
    400,
    [['rule_config', 'give min or max in rule_config']],
  ],
  [
    'POST',
    V,
    { ...rule, rule_type: 'ENUM', rule_config: { allowed_values: ['a', {}] } },
    400,
    [
      [
        'rule_config.allowed_values.1',
        'rule_config.allowed_values.1 must be text, a number or true or false, not an object',
      ],
    ],
  ],
  [
    'POST',
    V,
    { ...rule, severity: 'crit' },
    400,
    [['severity', 'severity must be one of info, warning, critical, not "crit"; did you mean `critical`?']],
  ],
  [
    'POST',
    V,
    { ...rule, rule_type: 'CUSTOM_SQL', rule_config: { sql_expression: 'drop table orders' } },
    400,
    [['rule_config.sql_expression', /\S/]],
  ],
  [
    'POST',
    '/api/v1/sdk/metrics/shop',
    { ...metric, metric_type: 'maen' },
    400,
    [['metric_type', /; did you mean `mean`\?$/]],
  ],
  [
    'POST',
    '/api/v1/sdk/metrics/shop',
    { ...metric, column_name: 'email' },
    400,
    [['column_name', /^mean works on .* columns; email is text$/]],
  ],
  [
    'POST',
    '/api/v1/sdk/metrics/shop',
    { ...metric, group_by_columns: ['emial'] },
    400,
    [['group_by_columns.0', /; did you mean `email`\?$/]],
  ],
  [
    'POST',
    '/api/v1/sdk/referential/shop',
    {
      child_table_path: 'orders',
      child_column_name: 'id',
      parent_table_path: 'custmers',
      parent_column_name: 'id',
    },
    400,
    [['parent_table_path', /^there is no table `custmers` .*; did you mean/]],
  ],
  [
    'POST',
    '/api/v1/sdk/referential/shop',
    {
      child_table_path: 'orders',
      child_column_name: 'idd',
      parent_table_path: 'customers',
      parent_column_name: 'id',
    },
    400,
    [['child_column_name', /has no column `idd`; did you mean `id`\?$/]],
  ],
  [
    'POST',
    '/api/v1/sdk/assets',
    { name: 'other', source_type: 'postgres', connection_config: {} },
    400,
    [['source_type', /^source_type must be one of .*, not "postgres"; did you mean `postgresql`\?$/]],
  ],
  [
    'PATCH',
    '/api/v1/sdk/assets/shop',
    { connection_config: { port: 'x', hots: 'a' } },
    400,
    [
      ['connection_config.port', 'connection_config.port must be a number, not "x"'],
      ['connection_config.hots', /^unknown field `connection_config\.hots`; did you mean `host`\?/],
    ],
  ],
  [
    'POST',
    '/api/v1/sdk/freshness/schedules',
    { asset_id: 'shop', table_path: 'orders', freshness_column: 'craeted_at' },
    400,
    [['freshness_column', /; did you mean `created_at`\?$/]],
  ],
  [
    'POST',
    '/api/v1/sdk/freshness/schedules',
    { asset_id: 'shop', table_path: 'orders', sla_threshold: '24h', expected_interval_hours: 24 },
    400,
    [['sla_threshold', 'sla_threshold and expected_interval_hours cannot be given together']],
  ],
  [
    'POST',
    '/api/v1/sdk/alerts/destinations',
    { name: 'x', destination_type: 'slak', config: {} },
    400,
    [['destination_type', /; did you mean `slack`\?$/]],
  ],
  [
    'POST',
    '/api/v1/sdk/alerts/destinations',
    { name: 'x', destination_type: 'webhook', config: { ulr: 'https://example.com/' } },
    400,
    [
      ['config.url', 'config.url is required'],
      ['config.ulr', /^unknown field `config\.ulr`; did you mean `url`\?/],
    ],
  ],
  [
    'POST',
    '/api/v1/sdk/alerts/rules',
    { name: 'x', destination_ids: [ID], event_types: ['schema_chang'] },
    400,
    [['event_types.0', /; did you mean `schema_change`\?$/]],
  ],
  [
    'POST',
    '/api/v1/sdk/alerts/x/snooze',
    { snoozed_until: '2999-01-01T00:00:00Z' },
    400,
    [['snoozed_until', 'snoozed_until must lie within a year']],
  ],
  [
    'POST',
    '/api/v1/sdk/tags',
    { asset_id: 'shop', name: 'x', object_type: 'column', object_path: 'orders.emial' },
    400,
    [['object_path', /has no column `emial`; did you mean `email`\?$/]],
  ],
  [
    'GET',
    '/api/v1/sdk/assets/shop/usage?from=2026-03-09&to=2026-03-01',
    ,
    400,
    [['from', /must not lie after to/]],
  ],
  [
    'POST',
    '/api/v1/operating-schedules',
    { name: 'x', timezone: 'Mars', rules: [{ days: [1], start: '9', end: '17:00' }] },
    422,
    [
      ['timezone', /IANA/],
      ['rules.0.start', /HH:MM/],
    ],
  ],
  [
    'POST',
    '/api/v1/invitations',
    { email: 'x', role: 'memebr' },
    422,
    [
      ['email', 'email must be an email address, not "x"'],
      ['role', /; did you mean `member`\?$/],
    ],
  ],
]

t.test('each error names its field, what is allowed, what was given, and what is near', async t => {
  for (const [method, path, body, status, errors] of PROMISES) {
    const label = `${method} ${path} ${JSON.stringify(body)}`
    const isKeyTaken = !/operating-schedules|invitations/.test(path)
    const reply = await app.ask(method, path, body, isKeyTaken ? tenant.key : tenant.token)
    t.equal(reply.status, status, label)
    const refusal = reply.body as Refusal
    t.equal(refusal.error.code, 'VALIDATION_ERROR', label)
    const given = (refusal.error.details.errors ?? []).map(each => [each.field, each.error])
    t.match(given.sort(), [...errors].sort(), label)
    t.equal(given.length, errors.length, label)
    t.equal(problemOf(status, refusal), null, label)
  }
})

t.test('a value that may be a secret is not repeated', async t => {
  const secret = 'canary'.repeat(2)
  for (const [method, path, body] of [
    ['POST', '/api/v1/auth/login', { email: 'a@example.com', password: [secret] }],
    ['POST', '/api/v1/auth/register', { email: 'a@example.com', password: secret.repeat(100) }],
    ['PUT', '/api/v1/auth/tokens/current', { refresh_token: { secret } }],
    ['PATCH', '/api/v1/sdk/assets/shop', { connection_config: `postgresql://u:${secret}@h/` }],
    ['PATCH', '/api/v1/sdk/assets/shop', { connection_config: { password: { secret }, ssl_mode: 'none' } }],
    [
      'POST',
      '/api/v1/sdk/alerts/destinations',
      { name: 'x', destination_type: 'slack', config: { webhook_url: `http://hooks.slack.com/${secret}` } },
    ],
    [
      'POST',
      '/api/v1/sdk/alerts/destinations',
      {
        name: 'x',
        destination_type: 'webhook',
        config: {
          url: 'https://example.com/',
          auth: { type: 'bearer', value: `${secret}\n` },
          headers: { 'X-A': `${secret}\n` },
        },
      },
    ],
  ] as const) {
    const reply = await app.ask(method, path, body, path.includes('/sdk/') ? tenant.key : tenant.token)
    t.match(reply.status, /400|422/, `${path} ${JSON.stringify(body)}`)
    t.notMatch(JSON.stringify(reply.body), 'canary', path)
  }
})

t.test('a long value is cut', async t => {
  const { body } = await app.ask('GET', `/api/v1/sdk/alerts?status=${'x'.repeat(400)}`, undefined, tenant.key)
  t.match(body.error.message, `not "${'x'.repeat(40)}…"; separate several by commas`)
})

t.test(
  'an asset that is not there is answered with those that are near, of the own company only',
  async t => {
    const stranger = await app.signUp('Stranger')
    const [table] = await app.query(`select qualified_name from tables where name = 'orders'`)
    const path = String(table?.qualified_name)
    for (const [given, candidate] of [
      ['shpo', 'shop'],
      [path.replace('orders', 'ordrs'), path],
    ] as const) {
      const own = await tenant.ask('GET', `/api/v1/assets/${given}`)
      t.match(own, { status: 404, body: { error: { code: 'ASSET_NOT_FOUND' } } }, given)
      t.match(own.body.error, {
        message: `There is no such asset, or it is not yours; did you mean \`${candidate}\`?`,
        details: { asset_id: given, candidates: [candidate], suggestion: /UUID/ },
      })
      const { body } = await stranger.ask('GET', `/api/v1/assets/${given}`)
      t.strictSame(Object.keys(body.error.details), ['asset_id', 'suggestion'], 'of another company, none')
      t.notMatch(body.error.message, 'did you mean')
    }
  },
)
