import Joi from 'joi'
import { ROLES, SCOPES } from '../../server/http/access.ts'
import { PLANS } from '../../server/settings/config.ts'
import {
  held,
  inData,
  inEnvelope,
  inNestedPage,
  inPage,
  noReply,
  record,
  reply,
} from '../../server/http/envelopes.ts'

const { id, time, text, count, flag } = held
const role = Joi.string().valid(...ROLES)
const plan = Joi.string().valid(...PLANS)
const email = Joi.string()

const ADA = {
  id: '0196f1c2-7b1e-7c7e-9d3a-5f0c8e1b2a34',
  email: 'ada@example.com',
  full_name: 'Ada Lovelace',
  role: 'owner',
  company: { id: '0196f1c2-7b1d-7f00-8a51-2f6f7a9d0c11', name: 'Example Ltd', plan: 'growth' },
  is_active: true,
  timezone: 'Europe/London',
  created_at: '2026-03-02T08:15:00.000Z',
  last_login_at: '2026-03-09T07:58:21.482Z',
}

const user = record(
  {
    id,
    email,
    full_name: text.allow(null),
    role,
    company: record({ id, name: text, plan }),
    is_active: flag.description('A disabled user is signed out and cannot sign in.'),
    timezone: Joi.string().description('An IANA time zone, such as Europe/Berlin.'),
    created_at: time,
    last_login_at: time.allow(null),
  },
  ADA,
).label('UserResponse')

const tokenFields = {
  access_token: Joi.string().description('Valid for 15 minutes.'),
  refresh_token: Joi.string().description('Can be used once, within 30 days.'),
  token_type: Joi.string().valid('bearer'),
  expires_in: count.description('Seconds until the access token expires.'),
}
const TOKENS = {
  access_token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIwMTk2ZjFjMiJ9.k3Jx0Q',
  refresh_token: 'AZbxwnsefH6dOl8Mjhsq…',
  token_type: 'bearer',
  expires_in: 900,
}
const tokens = record(tokenFields, TOKENS).label('RefreshTokenResponse')
export const signedInExample = { ...TOKENS, user: ADA }
export const signedIn = record({ ...tokenFields, user }, signedInExample).label('LoginResponse')

const invitation = record(
  {
    id,
    email,
    role,
    status: Joi.string().valid('open', 'accepted', 'revoked', 'expired'),
    invited_by: Joi.string().description('`user:<id>`.'),
    created_at: time,
    expires_at: time,
    accepted_at: time.allow(null),
    revoked_at: time.allow(null),
  },
  {
    id: '0196f2d0-11aa-7b3c-8f21-90b1c2d3e4f5',
    email: 'grace@example.com',
    role: 'member',
    status: 'open',
    invited_by: `user:${ADA.id}`,
    created_at: '2026-03-09T08:00:00.000Z',
    expires_at: '2026-03-16T08:00:00.000Z',
    accepted_at: null,
    revoked_at: null,
  },
).label('Invitation')

const invited = record(
  {
    id,
    email,
    role,
    token: Joi.string().description('The `invitation_token` to register with; shown once.'),
    expires_at: time,
  },
  {
    id: '0196f2d0-11aa-7b3c-8f21-90b1c2d3e4f5',
    email: 'grace@example.com',
    role: 'member',
    token: 'Jt0v2m…',
    expires_at: '2026-03-16T08:00:00.000Z',
  },
).label('InviteResponse')

const keyFields = {
  id,
  name: text,
  scope: Joi.string().valid(...SCOPES),
  key_prefix: Joi.string().description('The first characters of the key.'),
  key_suffix: Joi.string().description('The last characters of the key.'),
  display_key: Joi.string(),
  rate_limit_per_min: count.description('Requests per minute, set by the plan.'),
  burst_limit: count.description('Requests per second, set by the plan.'),
  created_at: time,
  expires_at: time.allow(null).description('Null for a key that never expires.'),
  last_used_at: time.allow(null),
  revoked_at: time.allow(null),
  is_active: flag.description('Neither revoked nor expired.'),
}
const KEY = {
  id: '0196f2d3-5a3c-7d10-b0aa-6c1e2f3a4b5c',
  name: 'Airflow',
  scope: 'read-write',
  key_prefix: 'aa_live_q7Rb',
  key_suffix: 'x2Lk',
  display_key: 'aa_live_q7Rb...x2Lk',
  rate_limit_per_min: 500,
  burst_limit: 25,
  created_at: '2026-03-09T08:03:12.000Z',
  expires_at: null,
  last_used_at: null,
  revoked_at: null,
  is_active: true,
}
const key = record(keyFields, KEY).label('ApiKey')
const newKey = record(
  { ...keyFields, key: Joi.string().description('The key itself; shown once.') },
  { ...KEY, key: 'aa_live_q7RbT0mZ4Vd8Yw2Kc6Nf1Hs9Lp3Xa5Jg7Ue0Qx2Lk' },
).label('NewApiKey')

const usage = record(
  {
    current_count: count.description('Keys that are neither revoked nor expired.'),
    max_keys: count.allow(null).description('Null for no limit.'),
    rate_limit_per_min: count,
    burst_limit: count,
    can_create: flag,
  },
  { current_count: 1, max_keys: 10, rate_limit_per_min: 500, burst_limit: 25, can_create: true },
).label('ApiKeyUsage')

const entry = record(
  {
    id: held.integer.description('Starts at 1 in each company, without gaps.'),
    at: time,
    actor: Joi.string().description('`user:<id>`, `key:<id>`, `system` or `cli`.'),
    actor_name: text
      .allow(null)
      .description(
        'The name or email of the user (for a removed user the last one), or the name of the key.',
      ),
    action: Joi.string().description('Such as `source.updated`.'),
    target: record({ type: Joi.string(), id: Joi.string() }).allow(null),
    details: Joi.object().unknown().description('More details; depends on the action.'),
    request_id: Joi.string().allow(null),
    address: Joi.string().allow(null).description('The client address of the request.'),
    hash: text.description('Covers this entry and, through the previous hash, all entries before it.'),
  },
  {
    id: 42,
    at: '2026-03-09T08:03:12.000Z',
    actor: `user:${ADA.id}`,
    actor_name: 'Ada Lovelace',
    action: 'api_key.created',
    target: { type: 'api_key', id: KEY.id },
    details: { name: 'Airflow', scope: 'read-write' },
    request_id: '5b0c9b1e-6f55-4d8e-9a57-0a4f3a1f7e11',
    address: '203.0.113.7',
    hash: '9f2b6f0a1c',
  },
).label('AuditEntry')

const auditPage = record({
  data: Joi.array().items(entry),
  pagination: record({
    limit: count,
    has_more: flag,
    next_before: held.integer.allow(null).description('The `before` of the next page; null on the last.'),
  }).example({ limit: 50, has_more: true, next_before: 42 }),
})

const verdict = record(
  {
    is_whole: flag,
    entries: count.description('Correct entries before the first wrong one.'),
    broken_at: held.integer.allow(null).description('The first entry that is wrong or missing.'),
    problem: Joi.string().allow(null),
    head_id: held.integer,
    head_hash: text.description('Stored elsewhere, it later reveals a log that was rewritten as a whole.'),
  },
  {
    is_whole: true,
    entries: 42,
    broken_at: null,
    problem: null,
    head_id: 42,
    head_hash: '9f2b6f0a1c',
  },
)

const demoKey = record(
  { api_key: Joi.string().description('Read-only.'), expires_at: time },
  { api_key: 'aa_demo_q7RbT0mZ4Vd8Yw2Kc6Nf1Hs9Lp3Xa5Jg', expires_at: '2026-03-09T09:03:12.000Z' },
)

const linkFields = {
  provider: text.allow(null).description('Null for an issuer that is no longer in the settings.'),
  linked_at: time,
  last_used_at: time.allow(null).description('When it was last used to sign in.'),
}
const LINK = { provider: 'google', linked_at: '2026-03-09T08:03:12.000Z', last_used_at: null }

export const linked = record(linkFields, LINK).label('ProviderLink')

const links = record(
  {
    has_password: flag,
    links: Joi.array().items(linked),
    providers: Joi.array().items(Joi.string()).description('The configured providers, which can be linked.'),
  },
  { has_password: true, links: [LINK], providers: ['github', 'google'] },
).label('ProviderLinks')

const linking = record(
  {
    authorization_url: Joi.string().uri().description('The address at the provider to send the browser to.'),
    expires_in: count.description('Seconds until the attempt expires.'),
  },
  {
    authorization_url: 'https://accounts.google.com/o/oauth2/v2/auth?client_id=tidemark&state=4f6c9a8f',
    expires_in: 600,
  },
).label('LinkProviderResponse')

/** The `response` of each route. */
export const replies = {
  user: reply(user),
  registered: reply(user, 201),
  users: reply(inPage(user)),
  tokens: reply(tokens),
  login: reply(signedIn),
  invited: reply(invited, 201),
  invitations: reply(inPage(invitation)),
  newKey: reply(inData(newKey), 201),
  keys: reply(inNestedPage(key, 'keys')),
  key: reply(inData(key)),
  usage: reply(inData(usage)),
  auditLog: reply(auditPage),
  auditVerdict: reply(inData(verdict)),
  demoKey: reply(inEnvelope(demoKey), 201),
  links: reply(links),
  linking: reply(linking),
  nothing: noReply,
}
