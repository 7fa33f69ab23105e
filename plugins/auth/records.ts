import Joi from 'joi'
import { ROLES } from '../../server/access.ts'
import { PLANS } from '../../server/config.ts'

const id = Joi.string().guid()
const time = Joi.date().iso()
const role = Joi.string().valid(...ROLES)

const user = Joi.object({
  id,
  email: Joi.string().email(),
  full_name: Joi.string().allow(null),
  role,
  company: Joi.object({ id, name: Joi.string(), plan: Joi.string().valid(...PLANS) }),
  is_active: Joi.boolean(),
  timezone: Joi.string(),
  created_at: time,
  last_login_at: time.allow(null),
}).label('UserResponse')

const tokens = Joi.object({
  access_token: Joi.string().description('Good for 15 minutes.'),
  refresh_token: Joi.string().description('Good once, within 30 days.'),
  token_type: Joi.string().valid('bearer'),
  expires_in: Joi.number().integer().description('Seconds until the access token ends.'),
}).label('RefreshTokenResponse')

const invitation = Joi.object({
  id,
  email: Joi.string().email(),
  role,
  status: Joi.string().valid('open', 'accepted', 'revoked', 'expired'),
  invited_by: Joi.string().description('`user:<id>`.'),
  created_at: time,
  expires_at: time,
  accepted_at: time.allow(null),
  revoked_at: time.allow(null),
}).label('Invitation')

const invited = Joi.object({
  id,
  email: Joi.string().email(),
  role,
  token: Joi.string().description('The `invitation_token` to register with; shown once.'),
  expires_at: time,
}).label('InviteResponse')

/** Replies as the interface's description tells them, for the `response` of a route; they are not checked again. */
export const replies = {
  user: { schema: user, sample: 0 },
  registered: { status: { 201: user }, sample: 0 },
  users: { schema: pageOf(user), sample: 0 },
  tokens: { schema: tokens, sample: 0 },
  login: { schema: tokens.keys({ user }).label('LoginResponse'), sample: 0 },
  invited: { status: { 201: invited }, sample: 0 },
  invitations: { schema: pageOf(invitation), sample: 0 },
  nothing: { status: { 204: Joi.valid(null) }, sample: 0 },
}

function pageOf(record: Joi.Schema): Joi.Schema {
  const count = Joi.number().integer()
  return Joi.object({
    data: Joi.array().items(record),
    pagination: Joi.object({ total: count, limit: count, offset: count, has_more: Joi.boolean() }),
  })
}
