/** Changes of a minimal contract of v3.1.0, and what is found because of each. */
import type { Contract } from './corpus.ts'

/** One contract for each rule that a schema has: what is wrong, where, and the keyword that says so. */
export const BROKEN: [string, Contract, string, string][] = [
  ['a text that is a number', { id: 7 }, '/id', 'type'],
  ['a list that is none', { tags: 'sales' }, '/tags', 'type'],
  ['another kind', { kind: 'Contract' }, '/kind', 'enum'],
  ['an unknown field', { stranger: 1 }, '/stranger', 'additionalProperties'],
  ['a server without a type', { servers: [{ server: 'a' }] }, '/servers/0', 'required'],
  ['a server of no type', { servers: [{ server: 'a', type: 'paper' }] }, '/servers/0/type', 'enum'],
  ['a server that lacks what its type needs', server({ type: 'kafka' }), '/servers/0', 'required'],
  [
    'a server with what its type does not have',
    server({ type: 'pubsub', project: 'p', host: 'h' }),
    '/servers/0/host',
    'additionalProperties',
  ],
  [
    'a place that is not SFTP',
    server({ type: 'sftp', location: 'https://example.com' }),
    '/servers/0/location',
    'pattern',
  ],
  ['an id with a space', { price: { id: 'a b' } }, '/price/id', 'pattern'],
  [
    'an unknown logical type',
    property({ logicalType: 'text' }),
    '/schema/0/properties/0/logicalType',
    'enum',
  ],
  [
    'options of another type',
    property({ logicalType: 'date', logicalTypeOptions: { maxLength: 1 } }),
    '/schema/0/properties/0/logicalTypeOptions/maxLength',
    'additionalProperties',
  ],
  [
    'options of no type',
    property({ logicalTypeOptions: { maxLength: 1 } }),
    '/schema/0/properties/0/logicalTypeOptions',
    'maxProperties',
  ],
  [
    'a length below none',
    property({ logicalType: 'string', logicalTypeOptions: { minLength: -1 } }),
    '/schema/0/properties/0/logicalTypeOptions/minLength',
    'minimum',
  ],
  [
    'a multiple of nothing',
    property({ logicalType: 'number', logicalTypeOptions: { multipleOf: 0 } }),
    '/schema/0/properties/0/logicalTypeOptions/multipleOf',
    'exclusiveMinimum',
  ],
  [
    'nothing required',
    property({ logicalType: 'object', logicalTypeOptions: { required: [] } }),
    '/schema/0/properties/0/logicalTypeOptions/required',
    'minItems',
  ],
  [
    'the same required twice',
    property({ logicalType: 'object', logicalTypeOptions: { required: ['a', 'a'] } }),
    '/schema/0/properties/0/logicalTypeOptions/required',
    'uniqueItems',
  ],
  [
    'items of what is no list',
    property({ logicalType: 'string', items: {} }),
    '/schema/0/properties/0/items',
    'additionalProperties',
  ],
  [
    'properties of what is no object',
    property({ logicalType: 'array', properties: [] }),
    '/schema/0/properties/0/properties',
    'additionalProperties',
  ],
  [
    'a relationship to nowhere',
    property({ relationships: [{}] }),
    '/schema/0/properties/0/relationships/0',
    'required',
  ],
  [
    'a relationship that names its property',
    property({ relationships: [{ from: 'a.b', to: 'a.b' }] }),
    '/schema/0/properties/0/relationships/0/from',
    'additionalProperties',
  ],
  [
    'a reference without an object',
    property({ relationships: [{ to: 'b' }] }),
    '/schema/0/properties/0/relationships/0/to',
    'pattern',
  ],
  [
    'one property related to several',
    { schema: [{ name: 'a', relationships: [{ from: 'a.b', to: ['a.b'] }] }] },
    '/schema/0/relationships/0/to',
    'type',
  ],
  ['a metric without an operator', quality({ metric: 'rowCount' }), '/schema/0/quality/0', 'oneOf'],
  [
    'a metric with two operators',
    quality({ metric: 'rowCount', mustBe: 1, mustNotBe: 2 }),
    '/schema/0/quality/0',
    'oneOf',
  ],
  [
    'a range of one number',
    quality({ metric: 'rowCount', mustBeBetween: [1] }),
    '/schema/0/quality/0/mustBeBetween',
    'minItems',
  ],
  [
    'a range of three numbers',
    quality({ metric: 'rowCount', mustBeBetween: [1, 2, 3] }),
    '/schema/0/quality/0/mustBeBetween',
    'maxItems',
  ],
  [
    'a rule of the library without a metric',
    quality({ type: 'library', mustBe: 1 }),
    '/schema/0/quality/0',
    'required',
  ],
  ['SQL without a query', quality({ type: 'sql', mustBe: 1 }), '/schema/0/quality/0', 'required'],
  [
    'a query that is no SQL',
    quality({ type: 'text', query: 'select 1' }),
    '/schema/0/quality/0/query',
    'additionalProperties',
  ],
  [
    'a tool without its words',
    quality({ type: 'custom', engine: 'soda' }),
    '/schema/0/quality/0',
    'required',
  ],
  [
    'an agreement without a value',
    { slaProperties: [{ property: 'latency' }] },
    '/slaProperties/0',
    'required',
  ],
  [
    'an agreement of a list',
    { slaProperties: [{ property: 'latency', value: [] }] },
    '/slaProperties/0/value',
    'type',
  ],
  ['help without a channel', { support: [{ url: 'https://example.com' }] }, '/support/0', 'required'],
  ['a price in words', { price: { priceAmount: 'little' } }, '/price/priceAmount', 'type'],
  ['a role without a name', { roles: [{ access: 'read' }] }, '/roles/0', 'required'],
  ['a member without a name', { team: { members: [{ role: 'owner' }] } }, '/team/members/0', 'required'],
  [
    'a link without an address',
    { authoritativeDefinitions: [{ type: 'terms' }] },
    '/authoritativeDefinitions/0',
    'required',
  ],
  [
    'an own property without a value',
    { customProperties: [{ property: 'a' }] },
    '/customProperties/0',
    'required',
  ],
]

function server(rest: object): Contract {
  return { servers: [{ server: 'a', ...rest }] }
}

function property(rest: object): Contract {
  return { schema: [{ name: 'a', properties: [{ name: 'b', ...rest }] }] }
}

function quality(rule: object): Contract {
  return { schema: [{ name: 'a', quality: [rule] }] }
}

/** Contradictions, with their paths and keywords. */
export const DOUBTFUL: [string, Contract, string, string][] = [
  ['two objects of one name', { schema: [{ name: 'a' }, { name: 'a' }] }, '/schema/1/name', 'duplicateName'],
  [
    'two properties of one name',
    { schema: [{ name: 'a', properties: [{ name: 'b' }, { name: 'b' }] }] },
    '/schema/0/properties/1/name',
    'duplicateName',
  ],
  ['two servers of one name', { servers: [pubsub(), pubsub()] }, '/servers/1/server', 'duplicateName'],
  [
    'two roles of one id',
    {
      roles: [
        { id: 'r', role: 'a' },
        { id: 'r', role: 'b' },
      ],
    },
    '/roles/1/id',
    'duplicateName',
  ],
  [
    'a relationship to a column that is not there',
    property({ relationships: [{ to: 'a.c' }] }),
    '/schema/0/properties/0/relationships/0/to',
    'relationship',
  ],
  [
    'a relationship to an id that is not there',
    property({ relationships: [{ to: 'schema/a/properties/b' }] }),
    '/schema/0/properties/0/relationships/0/to',
    'relationship',
  ],
  [
    'keys of different length',
    {
      schema: [
        { name: 'a', properties: [{ name: 'b' }], relationships: [{ from: ['a.b', 'a.b'], to: ['a.b'] }] },
      ],
    },
    '/schema/0/relationships/0/to',
    'relationship',
  ],
  [
    'an agreement on nothing',
    { schema: [{ name: 'a' }], slaProperties: [{ property: 'latency', value: 1, element: 'a, a.c' }] },
    '/slaProperties/0/element',
    'element',
  ],
  [
    'a position among keys of what is none',
    property({ primaryKeyPosition: 1 }),
    '/schema/0/properties/0/primaryKeyPosition',
    'keyPosition',
  ],
  [
    'a range that nothing is in',
    property({ logicalType: 'integer', logicalTypeOptions: { minimum: 2, maximum: 1 } }),
    '/schema/0/properties/0/logicalTypeOptions/minimum',
    'emptyRange',
  ],
  [
    'a pattern that is none',
    property({ logicalType: 'string', logicalTypeOptions: { pattern: '(' } }),
    '/schema/0/properties/0/logicalTypeOptions/pattern',
    'pattern',
  ],
  [
    'rows of a property',
    property({ quality: [{ metric: 'rowCount', mustBe: 1 }] }),
    '/schema/0/properties/0/quality/0/metric',
    'metricLevel',
  ],
  ['a team of the old form', { team: [] }, '/team', 'deprecated'],
]

function pubsub(): object {
  return { server: 'a', type: 'pubsub', project: 'p' }
}
