import Joi from 'joi'
import { held, nullable, record } from '../../server/http/envelopes.ts'
import type { Fields } from '../../server/http/fields.ts'

/** Who is named: the id of a user or a team, an address, or a name. */
export const ownerText = Joi.string().trim().min(1).max(254)

/** A name in one line, which is no address, so that it can name an owner. */
const teamName = Joi.string()
  .trim()
  .normalize('NFC')
  .min(1)
  .max(100)
  .pattern(/^[^@\p{Cc}\u2028\u2029]*$/u)
  .messages({ 'string.pattern.base': '{{#label}} must be one line without @, so that it is no address' })
  .example('Data Platform')

interface TeamMember {
  type: 'user' | 'email'
  id: string | null
  name: string
  email: string
}

const member = record({
  type: Joi.valid('user', 'email'),
  id: held.id.allow(null),
  name: held.text,
  email: Joi.string(),
}).label('TeamMember')

/** What a team is made of. */
export const teamFields = {
  id: { reply: held.id, example: '0197f3a2-5b1c-7e7f-9d3e-2f6a1c4b8d95' },
  name: { body: teamName, required: true, patch: true, reply: held.text, example: 'Data Platform' },
  description: {
    body: nullable(Joi.string().trim().allow('').max(2_000)),
    patch: true,
    reply: nullable(held.text),
    example: null,
  },
  members: {
    computed: true,
    body: Joi.array<readonly string[]>()
      .items(ownerText)
      .max(500)
      .unique()
      .description('Ids of users, and addresses; replaces all members.')
      .example(['jane@example.com']),
    patch: true,
    reply: Joi.array<TeamMember[]>().items(member),
    example: [
      {
        type: 'user',
        id: '0197f3a2-5b1c-7e7f-9d3e-2f6a1c4b8d96',
        name: 'Jane Doe',
        email: 'jane@example.com',
      },
    ],
  },
  created_at: { reply: held.time, example: '2030-01-15T09:30:00.000Z' },
  updated_at: { reply: held.time, example: '2030-01-15T09:30:00.000Z' },
} as const satisfies Fields
