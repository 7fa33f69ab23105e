import Joi from 'joi'
import {
  exampleIn,
  exampleRecord,
  held,
  inData,
  inEnvelope,
  inNestedPage,
  inPage,
  noReply,
  record,
  reply,
} from '../../server/http/envelopes.ts'
import { replyKeys } from '../../server/http/fields.ts'
import { ADA_ID, invitationFields, KEY_ID, keyFields, userFields } from './fields.ts'

const { time, text, count, flag } = held
const user = exampleRecord(replyKeys(userFields)).label('User')

const tokenFields = {
  access_token: Joi.string()
    .description('Valid for 15 minutes.')
    .example('eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIwMTk2ZjFjMiJ9.k3Jx0Q'),
  refresh_token: Joi.string()
    .description('Can be used once, within 30 days.')
    .example('AZbxwnsefH6dOl8Mjhsq…'),
  token_type: Joi.string().valid('bearer').example('bearer'),
  expires_in: count.description('Seconds until the access token expires.').example(900),
}
const tokens = exampleRecord(tokenFields).label('RefreshTokenResponse')
export const signedIn = exampleRecord({ ...tokenFields, user }).label('LoginResponse')

const invitationKeys = replyKeys(invitationFields)
const invitation = exampleRecord(invitationKeys).label('Invitation')

const invited = exampleRecord({
  id: invitationKeys.id!,
  email: invitationKeys.email!,
  role: invitationKeys.role!,
  token: Joi.string().description('The `invitation_token` to register with; shown once.').example('Jt0v2m…'),
  url: Joi.string()
    .uri()
    .description('A page for the invited person; holds the token.')
    .example('http://127.0.0.1:8000/invitation?token=Jt0v2m'),
  expires_at: invitationKeys.expires_at!,
  is_mailed: flag.description('Whether a mail with the link was sent.').example(true),
  mail_problem: text.allow(null).description('Why no mail was sent; null for one that was.').example(null),
}).label('InviteResponse')

const foundInvitation = exampleRecord({
  email: invitationKeys.email!,
  company_name: text.example('Example Ltd'),
  invited_by: text
    .allow(null)
    .description('The name or email of who invited; null for a user who was removed.')
    .example('Ada Lovelace'),
  expires_at: invitationKeys.expires_at!,
}).label('FoundInvitation')

const passwordReset = record(
  { email: Joi.string().description('The email to sign in with.') },
  { email: 'ada@example.com' },
).label('ResetPasswordResponse')

const key = exampleRecord(replyKeys(keyFields)).label('ApiKey')
const newKey = exampleRecord({
  ...replyKeys(keyFields),
  key: Joi.string()
    .description('The key itself; shown once.')
    .example('aa_live_q7RbT0mZ4Vd8Yw2Kc6Nf1Hs9Lp3Xa5Jg7Ue0Qx2Lk'),
}).label('NewApiKey')

const usage = exampleRecord({
  current_count: count.description('Keys that are neither revoked nor expired.').example(1),
  max_keys: count.allow(null).description('Null for no limit.').example(10),
  rate_limit_per_min: count.example(500),
  burst_limit: count.example(25),
  can_create: flag.example(true),
}).label('ApiKeyUsage')

const entry = exampleRecord(
  {
    id: held.integer.description('Starts at 1 in each company, without gaps.').example(42),
    at: time.example('2026-03-09T08:03:12.000Z'),
    actor: Joi.string().description('`user:<id>`, `key:<id>`, `system` or `cli`.').example(`user:${ADA_ID}`),
    actor_name: text
      .allow(null)
      .description('The name or email of the user (for a removed user the last one), or the name of the key.')
      .example('Ada Lovelace'),
    action: Joi.string().description('Such as `source.updated`.').example('api_key.created'),
    target: record({
      type: Joi.string(),
      id: Joi.string(),
      name: text.allow(null).description('The first name that the log has for it; null for none.'),
    }).allow(null),
    details: Joi.object()
      .unknown()
      .description('More details; depends on the action.')
      .example({ name: 'Airflow', scope: 'read-write' }),
    request_id: Joi.string().allow(null).example('5b0c9b1e-6f55-4d8e-9a57-0a4f3a1f7e11'),
    address: Joi.string()
      .allow(null)
      .description('The client address of the request.')
      .example('203.0.113.7'),
    hash: text
      .description('Covers this entry and, through the previous hash, all entries before it.')
      .example('9f2b6f0a1c'),
  },
  { target: { type: 'api_key', id: KEY_ID, name: 'Airflow' } },
).label('AuditEntry')

const auditPage = record({
  data: Joi.array().items(entry),
  pagination: record({
    limit: count,
    has_more: flag,
    next_before: held.integer.allow(null).description('The `before` of the next page; null on the last.'),
  }).example({ limit: 50, has_more: true, next_before: 42 }),
}).label('AuditPage')

const verdict = record(
  {
    is_whole: flag,
    entries: count.description('Correct entries before the first wrong one.'),
    broken_at: held.integer.allow(null).description('The first entry that is wrong or missing.'),
    problem: Joi.string().allow(null),
    head_id: held.integer,
    head_hash: text.description('Stored elsewhere, it later reveals a log that was rewritten as a whole.'),
  },
  { is_whole: true, entries: 42, broken_at: null, problem: null, head_id: 42, head_hash: '9f2b6f0a1c' },
).label('AuditVerdict')

const demoKey = record(
  { api_key: Joi.string().description('Read-only.'), expires_at: time },
  { api_key: 'aa_demo_q7RbT0mZ4Vd8Yw2Kc6Nf1Hs9Lp3Xa5Jg', expires_at: '2026-03-09T09:03:12.000Z' },
).label('DemoKey')

export const linked = exampleRecord({
  provider: text
    .allow(null)
    .description('Null for an issuer that is no longer in the settings.')
    .example('google'),
  linked_at: time.example('2026-03-09T08:03:12.000Z'),
  last_used_at: time.allow(null).description('When it was last used to sign in.').example(null),
}).label('ProviderLink')

const links = record(
  {
    has_password: flag,
    links: Joi.array().items(linked),
    providers: Joi.array().items(Joi.string()).description('The configured providers, which can be linked.'),
  },
  { has_password: true, links: [exampleIn(linked)], providers: ['github', 'google'] },
).label('ProviderLinks')

const linking = exampleRecord({
  authorization_url: Joi.string()
    .uri()
    .description('The address at the provider to send the browser to.')
    .example('https://accounts.google.com/o/oauth2/v2/auth?client_id=tidemark&state=4f6c9a8f'),
  expires_in: count.description('Seconds until the attempt expires.').example(600),
}).label('LinkProviderResponse')

export const replies = {
  user: reply(user),
  registered: reply(user, 201),
  users: reply(inPage(user)),
  tokens: reply(tokens.description('The new tokens')),
  login: reply(signedIn.description('The tokens of the new session, and the user')),
  invited: reply(invited.description('The invitation, with its token'), 201),
  foundInvitation: reply(foundInvitation.description('What the invited person needs to know')),
  passwordReset: reply(passwordReset.description('The user whose password it is')),
  invitations: reply(inPage(invitation)),
  newKey: reply(inData(newKey).description('The API key, with the key itself'), 201),
  keys: reply(inNestedPage(key, 'keys')),
  key: reply(inData(key)),
  usage: reply(inData(usage).description('The number of keys, and the limit of the plan')),
  auditLog: reply(auditPage.description('A page of entries of the audit log')),
  auditVerdict: reply(inData(verdict).description('Whether the hashes match, and the first that does not')),
  demoKey: reply(inEnvelope(demoKey).description('The key, with its expiry'), 201),
  links: reply(links.description('The linked providers, and whether there is a password')),
  linking: reply(linking.description('The address of the provider to send the browser to')),
  nothing: noReply,
}
