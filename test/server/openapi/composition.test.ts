import t from 'tap'
import { composeSchemas } from '../../../server/openapi/composition.ts'

/** Fields that are worth a reference. */
const FIELDS = Object.fromEntries(
  ['first', 'second', 'third'].map(name => [name, { type: 'string', description: name.repeat(20) }]),
)
const BASE = { type: 'object', properties: FIELDS, required: ['first', 'second'] }
const LARGER = {
  type: 'object',
  properties: { ...FIELDS, more: { type: 'integer' } },
  required: ['first', 'more', 'second'],
  examples: [{ first: 'a' }],
}
const PATHS = ['Base', 'Larger', 'Other'].map(name => ({ $ref: `#/components/schemas/${name}` }))

t.test('a record with all fields of another is that record and more', t => {
  const { Base, Larger } = composeSchemas({ Base: BASE, Larger: LARGER }, PATHS)
  t.strictSame(Base, BASE)
  t.strictSame(Larger, {
    allOf: [
      { $ref: '#/components/schemas/Base' },
      { type: 'object', properties: { more: { type: 'integer' } }, required: ['more'] },
    ],
    examples: [{ first: 'a' }],
  })
  t.end()
})

t.test('a record stands for itself where it differs from another', t => {
  const others = {
    'a field differs': { ...LARGER, properties: { ...LARGER.properties, first: { type: 'integer' } } },
    'a field is optional': { ...LARGER, required: ['first'] },
    'it takes no further fields': { ...LARGER, additionalProperties: false },
    'it is the same': BASE,
  }
  for (const [why, other] of Object.entries(others)) {
    const { Other } = composeSchemas({ Base: BASE, Other: other }, PATHS)
    t.strictSame(Other, other, why)
  }
  const small = { type: 'object', properties: { first: { type: 'string' } }, required: ['first'] }
  const more = { ...small, properties: { ...small.properties, second: { type: 'string' } } }
  t.strictSame(composeSchemas({ Base: small, Other: more }, PATHS).Other, more, 'it has little in common')
  t.end()
})

t.test('a record that nothing refers to is left out', t => {
  t.strictSame(Object.keys(composeSchemas({ Base: BASE, Unused: { type: 'string' } }, PATHS)), ['Base'])
  t.end()
})
