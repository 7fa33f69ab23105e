import Joi from 'joi'
import { ROLES, SCOPES, type Role, type Scope } from '../../server/http/access.ts'
import { held, nullable, record } from '../../server/http/envelopes.ts'
import type { Fields } from '../../server/http/fields.ts'
import { MAX_DATE } from '../../server/http/input.ts'
import { PLANS, type Plan } from '../../server/settings/config.ts'
import { timeInput } from '../../server/times/time-input.ts'

const { id, time, text, count, flag } = held

export const ADA_ID = '0196f1c2-7b1e-7c7e-9d3a-5f0c8e1b2a34'
export const KEY_ID = '0196f2d3-5a3c-7d10-b0aa-6c1e2f3a4b5c'

export const email = Joi.string().trim().normalize('NFC').lowercase().email({ tlds: false }).max(254)

/** Also printed to terminals, which would obey control characters. */
export const personName = Joi.string()
  .trim()
  .min(1)
  .max(200)
  .pattern(/^\P{Cc}*$/u)
  .messages({ 'string.pattern.base': '{{#label}} must not hold control characters' })

/** A company has one owner, and the role cannot be given. */
type GivenRole = Exclude<Role, 'owner'>
export const givenRole = Joi.string<GivenRole>().valid('admin', 'member', 'viewer')

/** What replies show of a company. */
export interface CompanyRecord {
  id: string
  name: string
  plan: Plan
}

/** What replies show of a user; the requests that change one take different fields each. */
export const userFields = {
  id: { reply: id, example: ADA_ID },
  email: { reply: Joi.string(), example: 'ada@example.com' },
  full_name: { reply: nullable(text), example: 'Ada Lovelace' },
  role: { reply: Joi.string<Role>().valid(...ROLES), example: 'owner' },
  company: {
    computed: true,
    reply: record({
      id,
      name: text,
      plan: Joi.string().valid(...PLANS),
    }) as Joi.ObjectSchema<CompanyRecord>,
    example: { id: '0196f1c2-7b1d-7f00-8a51-2f6f7a9d0c11', name: 'Example Ltd', plan: 'growth' },
  },
  is_active: { reply: flag.description('A disabled user is signed out and cannot sign in.'), example: true },
  timezone: {
    reply: Joi.string().description('An IANA time zone, such as Europe/Berlin.'),
    example: 'Europe/London',
  },
  created_at: { reply: time, example: '2026-03-02T08:15:00.000Z' },
  last_login_at: { reply: nullable(time), example: '2026-03-09T07:58:21.482Z' },
} as const satisfies Fields

export const invitationFields = {
  id: { reply: id, example: '0196f2d0-11aa-7b3c-8f21-90b1c2d3e4f5' },
  email: { body: email, required: true, reply: Joi.string(), example: 'grace@example.com' },
  role: {
    body: givenRole,
    required: true,
    reply: Joi.string<GivenRole>().valid(...ROLES),
    example: 'member',
  },
  status: {
    computed: true,
    reply: Joi.string<'open' | 'accepted' | 'revoked' | 'expired'>().valid(
      'open',
      'accepted',
      'revoked',
      'expired',
    ),
    example: 'open',
  },
  invited_by: { reply: Joi.string().description('`user:<id>`.'), example: `user:${ADA_ID}` },
  created_at: { reply: time, example: '2026-03-09T08:00:00.000Z' },
  expires_at: { reply: time, example: '2026-03-16T08:00:00.000Z' },
  accepted_at: { reply: nullable(time), example: null },
  revoked_at: { reply: nullable(time), example: null },
} as const satisfies Fields

const scope = Joi.string<Scope>().valid(...SCOPES)

/** What an API key is made of, without the key itself. */
export const keyFields = {
  id: { reply: id, example: KEY_ID },
  name: { body: personName, required: true, reply: text, example: 'Airflow' },
  scope: { body: scope, required: true, example: 'read-write' },
  key_prefix: {
    reply: Joi.string().description('The first characters of the key.'),
    example: 'aa_live_q7Rb',
  },
  key_suffix: { reply: Joi.string().description('The last characters of the key.'), example: 'x2Lk' },
  display_key: { computed: true, reply: Joi.string(), example: 'aa_live_q7Rb...x2Lk' },
  rate_limit_per_min: {
    computed: true,
    reply: count.description('Requests per minute, set by the plan.'),
    example: 500,
  },
  burst_limit: {
    computed: true,
    reply: count.description('Requests per second, set by the plan.'),
    example: 25,
  },
  created_at: { reply: time, example: '2026-03-09T08:03:12.000Z' },
  expires_at: {
    body: nullable(
      timeInput.max(MAX_DATE).messages({ 'date.max': '{{#label}} must lie before the year 10000' }),
    ).description('When the key expires; null or absent for never.'),
    reply: nullable(time).description('Null for a key that never expires.'),
    example: null,
  },
  last_used_at: { reply: nullable(time), example: null },
  revoked_at: { reply: nullable(time), example: null },
  is_active: { computed: true, reply: flag.description('Neither revoked nor expired.'), example: true },
} as const satisfies Fields
