import t from 'tap'
import { validateContract } from '../../../plugins/contracts/validation.ts'
import { parseYaml } from '../../../server/yaml.ts'
import { BROKEN, DOUBTFUL } from './cases.ts'
import { full, minimal, VERSIONS } from './corpus.ts'

const parse = (text: string) => parseYaml(text, { what: 'contract' })

const ofValue = (value: unknown) => validateContract({ value, positionOf: () => null, doubts: [] })
const ofText = (text: string) => validateContract(parse(text))
const head = 'apiVersion: v3.1.0\nkind: DataContract\nid: orders\nversion: 1.0.0\nstatus: active\n'

t.test('contracts of every version are valid, with the least and with all that the version knows', t => {
  for (const version of VERSIONS) {
    for (const contract of [minimal(version), full(version)]) {
      const { errors, warnings, ...verdict } = ofValue(contract)
      t.strictSame(errors, [], version)
      t.strictSame(warnings, [], version)
      t.match(verdict, { valid: true, api_version: version })
    }
  }
  t.end()
})

t.test('an error has its path, its line, what was expected, and the rule', t => {
  const { valid, errors } = ofText(
    `${head}schema:\n  - name: orders\n    properties:\n      - logicalType: string\n        a/b~c: 1\n`,
  )
  t.equal(valid, false)
  t.strictSame(errors, [
    {
      path: '/schema/0/properties/0',
      line: 9,
      message: 'expected the field name, which is missing',
      keyword: 'required',
    },
    {
      path: '/schema/0/properties/0/a~1b~0c',
      line: 10,
      message: 'expected no field of this name: it is not known here',
      keyword: 'additionalProperties',
    },
  ])
  t.equal(ofValue({ ...minimal('v3.1.0'), tags: 'one' }).errors[0]?.line, null, 'JSON has no lines')
  t.end()
})

for (const [what, change, path, keyword] of BROKEN) {
  t.test(`${what} is an error`, t => {
    const { valid, errors } = ofValue({ ...minimal('v3.1.0'), ...change })
    t.equal(valid, false)
    t.match(errors, [{ path, keyword, message: /^expected / }])
    t.equal(errors.length, 1, 'and the only one')
    t.end()
  })
}

t.test('a contract without a version that is known is not valid, and nothing more is said of it', t => {
  for (const apiVersion of ['v2.2.1', 'v3.2.0', '3.1.0', 7, null]) {
    const { valid, errors } = ofValue({ ...minimal('v3.1.0'), apiVersion, stranger: 1 })
    t.match({ valid, errors }, { valid: false, errors: [{ path: '/apiVersion', keyword: 'enum' }] })
  }
  const { apiVersion: _, ...without } = minimal('v3.1.0')
  t.match(ofValue(without), { valid: false, api_version: null, errors: [{ path: '', keyword: 'required' }] })
  for (const value of [null, [], 'text', 7])
    t.match(ofValue(value), { valid: false, errors: [{ path: '', keyword: 'type' }] })
  t.end()
})

t.test(
  'a 3.x contract that only the newest 3.x takes is valid, with warnings that say what its own refuses',
  t => {
    const newer = { ...minimal('v3.0.2'), support: [{ channel: '#orders' }] }
    t.match(ofValue(newer), {
      valid: true,
      api_version: 'v3.0.2',
      errors: [],
      warnings: [
        {
          path: '/support/0',
          keyword: 'required',
          message: /^v3\.1\.0 accepts this, v3\.0\.2 does not: expected/,
        },
      ],
    })
    t.equal(ofValue({ ...newer, stranger: 1 }).valid, false, 'but not when both refuse it')
    t.equal(ofValue({ ...minimal('v2.2.2'), status: 1 }).valid, false, '2.2.2 stands alone')
    t.end()
  },
)

t.test('what a version takes without knowing it is a warning', t => {
  const found = ofValue({
    ...minimal('v3.0.2'),
    price: { stranger: 1 },
    servers: [{ server: 'a', type: 'kafka', host: 'k', port: 1 }],
  })
  t.equal(found.valid, true)
  t.match(found.warnings, [
    { path: '/servers/0/port', keyword: 'additionalProperties', message: /v3\.0\.2 does not know/ },
    { path: '/price/stranger', keyword: 'additionalProperties' },
  ])
  t.match(ofValue({ ...minimal('v2.2.2'), stranger: 1 }), { valid: true, warnings: [{ path: '/stranger' }] })
  t.end()
})

t.test('a date in another form is a warning', t => {
  const contract = {
    ...minimal('v3.1.0'),
    contractCreatedTs: 'yesterday',
    team: [{ username: 'ann', dateIn: '1.2.2024' }],
  }
  const { valid, warnings } = ofValue(contract)
  t.equal(valid, true)
  t.match(
    warnings
      .slice(0, 2)
      .map(({ path }) => path)
      .sort(),
    ['/contractCreatedTs', '/team/0/dateIn'],
  )
  t.end()
})

for (const [what, change, path, keyword] of DOUBTFUL) {
  t.test(`${what} is a warning`, t => {
    const { valid, warnings } = ofValue({ ...minimal('v3.1.0'), ...change })
    t.equal(valid, true)
    t.match(warnings, [
      { path, keyword, message: keyword === 'deprecated' ? /^deprecated since v3\.1\.0: / : /^expected / },
    ])
    t.equal(warnings.length, 1, 'and the only one')
    t.end()
  })
}

t.test('references are followed by names, by ids, and by what is physically there', t => {
  const address = {
    name: 'address',
    id: 'adr',
    logicalType: 'object',
    properties: [{ name: 'street', id: 'str' }],
  }
  const objects = [
    { name: 'accounts', id: 'acc', physicalName: 'accounts_1', properties: [address, { name: 'id' }] },
    {
      name: 'users',
      properties: [
        {
          name: 'account',
          relationships: [{ to: 'accounts.id' }, { to: 'schema/acc/properties/adr/properties/str' }],
        },
      ],
    },
  ]
  const slaProperties = [{ property: 'latency', value: 1, element: 'accounts.address.street, accounts_1.id' }]
  t.strictSame(ofValue({ ...minimal('v3.1.0'), schema: objects, slaProperties }).warnings, [])
  const alone = {
    schema: objects.slice(0, 1),
    slaProperties: [{ property: 'latency', value: 1, element: 'id' }],
  }
  t.strictSame(ofValue({ ...minimal('v3.1.0'), ...alone }).warnings, [], 'one object needs no name')
  t.end()
})

t.test('the first of many findings are returned, with their number', t => {
  const { errors, found } = ofValue({ ...minimal('v3.1.0'), tags: Array(5000).fill(1) })
  t.equal(errors.length, 200)
  t.equal(found.errors, 5000)
  t.end()
})

t.test('the actual value is described where that helps to correct it', t => {
  const { errors } = ofText(
    'apiVersion: v3.1.0\nkind: DataContract\nstatus: active\nversion: 1.0\nid: true\nschema:\nservers: no\n',
  )
  t.strictSame(
    errors.map(({ line, message }) => [line, message]),
    [
      [4, 'expected a text, not a number: put it in quotes'],
      [5, 'expected a text, not a yes or no: put it in quotes'],
      [6, 'expected a list, and nothing is here'],
      [7, 'expected a list'],
    ],
    'in the order of the text',
  )
  t.end()
})

t.test('no regular expression is shown to who wrote something else', t => {
  const to = (end: string) => ({ name: 'a', relationships: [{ to: end }] })
  const { errors, warnings } = ofValue({
    ...minimal('v3.1.0'),
    schema: [{ id: 'a b', name: 'orders', properties: [to('no such thing')] }],
    servers: [{ server: 'files', type: 'sftp', location: 'ftp://example.com/a' }],
  })
  t.equal(errors.length, 3)
  for (const { keyword, message } of errors) {
    t.equal(keyword, 'pattern')
    t.notMatch(message, /[\^$\\[\]]/)
  }
  t.strictSame(warnings, [], 'and what is an error is not doubted too')
  t.end()
})

t.test('messages stay short, however long the names are', t => {
  const long = 'k'.repeat(100_000)
  const { warnings, found } = ofText(`${head}name: &long ${long}\nschema:\n${'  - name: *long\n'.repeat(99)}`)
  t.equal(warnings.length, 98)
  t.ok(JSON.stringify(warnings).length < 100_000)
  t.equal(found.warnings, 98)
  const paths = ofValue({ ...minimal('v3.1.0'), [long]: Array(5_000).fill({ id: 'a' }) })
  t.ok(JSON.stringify(paths).length < 700_000)
  t.equal(paths.found.warnings, 4_999)
  t.end()
})
