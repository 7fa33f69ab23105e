import type { Server, ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access, routesOf } from '../../server/http/access.ts'
import { rows, type Transaction } from '../../server/database/database.ts'
import { held, record, reply } from '../../server/http/envelopes.ts'
import { lockName } from '../../server/database/locks.ts'

const route = routesOf('public')

const text = (max: number) =>
  Joi.string()
    .trim()
    .max(max)
    .pattern(/^[^\p{Cc}]*$/u)
    .messages({ 'string.pattern.base': '{{#label}} must not hold control characters' })
    .allow('', null)

interface BetaSignup {
  email: string
  name?: string | null
  company?: string | null
  use_case?: string | null
}

const signUp = Joi.object<BetaSignup>({
  email: Joi.string()
    .trim()
    .normalize('NFC')
    .lowercase()
    .email({ tlds: false })
    .max(254)
    .required()
    .description('The address to contact when there is a place.'),
  name: text(200),
  company: text(200),
  use_case: Joi.string().trim().max(2_000).allow('', null).description('The planned use.'),
})
  .required()
  .example({ email: 'ada@example.com', name: 'Ada', company: 'Acme', use_case: 'Freshness of 200 tables' })
  .label('BetaSignupRequest')

const status = record(
  {
    open: held.flag.description('Whether sign-ups are accepted.'),
    capacity: held.count.allow(null).description('The maximum number of sign-ups; null for no limit.'),
    registered: held.count.description('The number of sign-ups.'),
    message: Joi.string(),
  },
  {
    open: true,
    capacity: null,
    registered: 41,
    message: 'The beta is open: sign up and we will write to you.',
  },
).label('BetaStatus')

const signedUp = record(
  {
    registered: held.flag,
    position: Joi.number().integer().min(1).allow(null).description('The position on the list, from 1.'),
    message: Joi.string(),
  },
  { registered: true, position: 42, message: 'You are on the list: we will write to you.' },
).label('BetaSignupResponse')

/** The waiting list of the beta. */
export const betaRoutes: ServerRoute[] = [
  route('GET', '/api/public/beta/status', access.open, {
    description: 'Get whether the beta accepts sign-ups',
    notes: 'Use it before showing the form.',
    response: reply(status),
    async handler({ server }, h) {
      const registered = await server.db.system(countSignups)
      const { betaCapacity: capacity = null } = server.config
      const open = isOpen(server, registered)
      const message = open
        ? 'The beta is open: sign up and we will write to you.'
        : 'The beta is full or closed at the moment: try again later.'
      return h.response({ open, capacity, registered, message }).header('Cache-Control', 'no-store')
    },
  }),
  route('POST', '/api/public/beta/signup', access.byAddress({ name: 'beta', perMinute: 60 }), {
    description: 'Sign up for the beta',
    notes:
      'Signing up again with the same email returns the same position, also when the beta is full or closed, and keeps the first details.',
    validate: { payload: signUp },
    response: reply(signedUp.description('The place on the list')),
    async handler(request, h) {
      const position = await registerSignup(request.server, request.payload)
      const message =
        position === null
          ? 'The beta is full or closed at the moment: try again later.'
          : 'You are on the list: we will write to you.'
      return h
        .response({ registered: position !== null, position, message })
        .header('Cache-Control', 'no-store')
    },
  }),
]

/** @returns the position on the list, from 1; null for a new email when the beta is full or closed */
async function registerSignup(server: Server, { email, ...said }: BetaSignup): Promise<number | null> {
  return server.db.system(async trx => {
    // Serialized, so that the capacity is not exceeded.
    await lockName(trx, 'beta sign-up')
    const known = await findPosition(trx, email)
    if (known !== null || !isOpen(server, await countSignups(trx))) return known
    await rows(
      trx,
      `insert into beta_signups (email, name, company, use_case) values (:email, :name, :company, :useCase)`,
      { email, name: said.name || null, company: said.company || null, useCase: said.use_case || null },
    )
    return findPosition(trx, email)
  })
}

async function findPosition(trx: Transaction, email: string): Promise<number | null> {
  // Counted, since a rolled-back insert leaves a gap in the numbers.
  const [place] = await rows<{ position: number }>(
    trx,
    `select cast(count(*) as int) as position from beta_signups
     where position <= (select position from beta_signups where email = :email)`,
    { email },
  )
  return place?.position || null
}

async function countSignups(trx: Transaction): Promise<number> {
  const [row] = await rows<{ count: number }>(trx, 'select cast(count(*) as int) as count from beta_signups')
  return row?.count ?? 0
}

function isOpen({ config }: Server, registered: number): boolean {
  return config.betaOpen && registered < (config.betaCapacity ?? Infinity)
}
