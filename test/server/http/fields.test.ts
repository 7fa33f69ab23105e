import Joi from 'joi'
import t from 'tap'
import { exampleIn, nullable } from '../../../server/http/envelopes.ts'
import {
  columnsOf,
  createKeys,
  patchKeys,
  presentFields,
  replyKeys,
  type CreateBody,
  type Fields,
  type PatchBody,
  type ReplyOf,
  type RowOf,
} from '../../../server/http/fields.ts'

const boatFields = {
  id: { reply: Joi.string(), example: 'b1' },
  home_port: { body: Joi.string(), required: true, patch: true, example: 'Kiel' },
  sails: { column: 'sailCount', body: Joi.number(), default: 2, patch: true, example: 3 },
  note: { body: nullable(Joi.string()), create: false, patch: true, example: null },
  crew: { computed: true, body: Joi.array<string[]>(), reply: Joi.number(), patch: true, example: 4 },
} as const satisfies Fields

type Boat = RowOf<typeof boatFields>

const boat: Boat = { id: 'b1', homePort: 'Kiel', sailCount: 3, note: null }

t.test('bodies have the fields that may be given, with their defaults', t => {
  const create = Joi.object<CreateBody<Boat, typeof boatFields>>(createKeys(boatFields))
  t.strictSame(Object.keys(create.describe().keys as object), ['home_port', 'sails', 'crew'])
  t.match(create.validate({}).error, { message: '"home_port" is required' })
  t.strictSame(create.validate({ home_port: 'Kiel' }).value, { home_port: 'Kiel', sails: 2 })
  const patch = Joi.object<PatchBody<Boat, typeof boatFields>>(patchKeys(boatFields))
  t.strictSame(patch.validate({ note: null }).value, { note: null }, 'nothing is required, nothing added')
  t.ok(patch.validate({ id: 'b2' }).error)
  t.end()
})

t.test('columns are those of what is given, without what has none', t => {
  const columns = columnsOf<Boat>(boatFields, { home_port: 'Kiel', sails: 1, crew: ['Ada'] })
  t.strictSame(columns, { homePort: 'Kiel', sailCount: 1 })
  t.end()
})

t.test('replies show rows and computed values in the order of the fields, with an example each', t => {
  const shown: ReplyOf<Boat, typeof boatFields> = presentFields(boatFields, { ...boat, crew: 4 })
  t.equal(JSON.stringify(shown), '{"id":"b1","home_port":"Kiel","sails":3,"note":null,"crew":4}')
  // @ts-expect-error the computed value is missing
  t.strictSame(presentFields(boatFields, boat).crew, undefined)
  const examples = Object.entries(replyKeys(boatFields)).map(([name, key]) => [name, exampleIn(key)])
  t.strictSame(Object.fromEntries(examples), { id: 'b1', home_port: 'Kiel', sails: 3, note: null, crew: 4 })
  t.end()
})
