import Joi from 'joi'
import { SCOPES } from '../../server/access.ts'
import { pageQuery } from '../../server/page.ts'
import { TIMEZONE } from '../../server/timezones.ts'

const email = Joi.string().trim().lowercase().email({ tlds: false }).max(254)
/** Hashing takes text of any length; policy is checked apart, and has a code of its own. */
const password = Joi.string().max(1_024)
const fullName = Joi.string().trim().min(1).max(200)

/** The bodies and queries of accounts and API keys. */
export const schemas = {
  email,
  register: Joi.object({
    email: email.required(),
    password: password.required(),
    full_name: fullName,
    company_name: Joi.string().trim().min(1).max(200),
    invitation_token: Joi.string().max(200),
  }).label('RegisterRequest'),
  login: Joi.object({ email: email.required(), password: password.required() }).label('LoginRequest'),
  refresh: Joi.object({ refresh_token: Joi.string().max(500).required() }).label('RefreshTokenRequest'),
  profile: Joi.object({ full_name: fullName.allow(null), timezone: TIMEZONE })
    .min(1)
    .label('UpdateProfileRequest'),
  changePassword: Joi.object({ old_password: password.required(), new_password: password.required() }).label(
    'ChangePasswordRequest',
  ),
  nothing: Joi.object({}).allow(null).label('Empty'),
  none: Joi.object({}),
  createKey: Joi.object({
    name: Joi.string().trim().min(1).max(200).required(),
    scope: Joi.string()
      .valid(...SCOPES)
      .required(),
    expires_at: Joi.date().iso().allow(null),
  }).label('CreateApiKeyRequest'),
  listKeys: Joi.object(pageQuery()),
}
