import Joi from 'joi'
import { nullable } from '../../server/http/envelopes.ts'
import { createKeys, type CreateBody } from '../../server/http/fields.ts'
import { pageQuery, queryBoolean, type Page } from '../../server/http/page.ts'
import { TIMEZONE } from '../../server/settings/timezones.ts'
import { email, givenRole, invitationFields, keyFields, personName } from './fields.ts'
import type { ApiKey, Invitation } from './models.ts'

/** The password policy has an error code of its own; this only bounds the text that is hashed. */
const password = Joi.string().max(1_024)
/** Any text; one that is no id is answered as an unknown one. */
const id = Joi.string().required()
export type NewKey = CreateBody<ApiKey, typeof keyFields>
export type NewInvitation = CreateBody<Invitation, typeof invitationFields>

/** The body of a registration. */
interface RegisterRequest {
  email: string
  password: string
  full_name?: string
  company_name?: string
  invitation_token?: string
}

export const providerParams = Joi.object({
  provider_type: Joi.string()
    .max(100)
    .required()
    .description('google, github, slack, or any other provider of the settings OAUTH_<PROVIDER>_…'),
})

export const schemas = {
  email,
  register: Joi.object<RegisterRequest>({
    email: email.required(),
    password: password.required(),
    full_name: personName,
    company_name: personName,
    invitation_token: Joi.string()
      .max(200)
      .description('The token of an invitation of this email: joins the company that sent it.'),
  })
    .without('invitation_token', 'company_name')
    .messages({
      'object.without':
        'company_name cannot be given with an invitation_token: the invitation names the company',
    })
    .example({
      email: 'ada@example.com',
      password: 'a long walk at dawn',
      full_name: 'Ada Lovelace',
      company_name: 'Example Ltd',
    })
    .label('RegisterRequest'),
  login: Joi.object<{ email: string; password: string }>({
    email: email.required(),
    password: password.required(),
  })
    .example({ email: 'ada@example.com', password: 'a long walk at dawn' })
    .label('LoginRequest'),
  requestReset: Joi.object<{ email: string }>({ email: email.required() })
    .required()
    .example({ email: 'ada@example.com' })
    .label('PasswordResetRequest'),
  resetPassword: Joi.object<{ token: string; new_password: string }>({
    token: Joi.string().min(1).max(200).required().description('The token of the link.'),
    new_password: password.required(),
  })
    .required()
    .example({ token: 'Xc1TqJ7Qd0mZ4Vd8Yw2Kc6Nf1Hs9Lp3Xa5Jg7Ue0QxT', new_password: 'a longer walk at dusk' })
    .label('ResetPasswordRequest'),
  lookUpInvitation: Joi.object<{ invitation_token: string }>({
    invitation_token: Joi.string().min(1).max(200).required(),
  })
    .required()
    .example({ invitation_token: 'Jt0v2mZ4Vd8Yw2Kc6Nf1Hs9Lp3Xa5Jg7Ue0QxT0Rb2q' })
    .label('LookUpInvitationRequest'),
  refresh: Joi.object<{ refresh_token: string }>({ refresh_token: Joi.string().max(500).required() })
    .example({ refresh_token: 'AZbxwnsefH6dOl8Mjhsq…' })
    .label('RefreshTokenRequest'),
  profile: Joi.object<{ full_name?: string | null; timezone?: string }>({
    full_name: nullable(personName),
    timezone: TIMEZONE,
  })
    .min(1)
    .example({ timezone: 'Europe/London' })
    .label('UpdateProfileRequest'),
  changePassword: Joi.object<{ old_password: string; new_password: string }>({
    old_password: password.required(),
    new_password: password.required(),
  })
    .example({ old_password: 'a long walk at dawn', new_password: 'a longer walk at dusk' })
    .label('ChangePasswordRequest'),
  removePassword: Joi.object<{ old_password: string }>({ old_password: password.required() })
    .example({ old_password: 'a long walk at dawn' })
    .label('RemovePasswordRequest'),
  link: nullable(
    Joi.object<{ old_password?: string; redirect_uri?: string }>({
      old_password: password.description('The password of your user; required while it has one.'),
      redirect_uri: Joi.string()
        .max(2_000)
        .description('Where the browser is sent afterwards; an address of the origin of BASE_URL.'),
    }),
  )
    .example({ old_password: 'a long walk at dawn', redirect_uri: 'http://127.0.0.1:8000/' })
    .label('LinkProviderRequest'),
  exchangeTicket: Joi.object<{ ticket: string }>({ ticket: Joi.string().min(1).max(200).required() })
    .required()
    .example({ ticket: 'k7Qd0mZ4Vd8Yw2Kc6Nf1Hs9Lp3Xa5Jg7Ue0QxT0' })
    .label('ExchangeTicketRequest'),
  nothing: Joi.object({}).allow(null).example({}).label('Empty'),
  none: Joi.object({}),
  createKey: Joi.object<NewKey>(createKeys(keyFields))
    .example({ name: 'Airflow', scope: 'read-write' })
    .label('CreateApiKeyRequest'),
  listKeys: Joi.object<Page & { include_revoked: boolean }>({
    ...pageQuery(),
    include_revoked: queryBoolean.default(true).description('Whether revoked keys are listed.'),
  }),
  page: Joi.object<Page>(pageQuery()),
  updateUser: Joi.object<{ role?: Invitation['role']; is_active?: boolean }>({
    role: givenRole,
    is_active: Joi.boolean().strict(),
  })
    .min(1)
    .example({ role: 'viewer' })
    .label('UpdateUserRequest'),
  invite: Joi.object<NewInvitation>(createKeys(invitationFields))
    .example({ email: 'grace@example.com', role: 'member' })
    .label('InviteRequest'),
  keyParams: Joi.object({ key_id: id.description('The id of a key, not the key itself.') }),
  userParams: Joi.object({ user_id: id }),
  invitationParams: Joi.object({ invitation_id: id }),
}
