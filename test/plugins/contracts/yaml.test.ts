import t, { type Test } from 'tap'
import { parseYaml, YamlParseError, type ParseFailure } from '../../../server/yaml.ts'
import { createValidator, MAX_BYTES } from '../../../plugins/contracts/validator.ts'
import { createTextPool } from '../../../server/text-pool/text-pool.ts'
import { share } from '../../helpers/share.ts'

const makeValidator = (t: Test) => {
  const pool = createTextPool()
  t.teardown(() => pool.stop())
  return createValidator(pool)
}

/** 503 with a time to try again. */
const REFUSED_FOR_NOW = { output: { statusCode: 503, headers: { 'Retry-After': '2' } } } as unknown as Error

const parse = (text: string) => parseYaml(text, { what: 'contract' })

function failuresOf(text: string): readonly ParseFailure[] {
  try {
    parse(text)
    return []
  } catch (error) {
    if (error instanceof YamlParseError) return error.failures
    throw error
  }
}

t.test('YAML is read by the core schema of 1.2, whatever the text says of itself', t => {
  const text = '%YAML 1.1\n---\nday: 2024-02-29\nyes: no\noctal: 0o17\n<<: { a: 1 }\n'
  t.strictSame(parse(text).value, { day: '2024-02-29', yes: 'no', octal: 15, '<<': { a: 1 } })
  t.strictSame(parse('{"a": [1, null, "b"]}').value, { a: [1, null, 'b'] }, 'JSON is YAML')
  t.strictSame(parse('a: &x [1]\nb: *x\n').value, { a: [1], b: [1] }, 'aliases are followed')
  t.end()
})

t.test('a name of JavaScript is a key as any other', t => {
  const { value } = parse('__proto__: { admin: true }\nconstructor: 1\n')
  t.strictSame(Object.keys(value as object), ['__proto__', 'constructor'])
  t.equal(({} as { admin?: boolean }).admin, undefined)
  t.end()
})

const UNREADABLE: [string, string, string, number | null][] = [
  ['a bracket that is never closed', 'a: [1\nb: 2', 'yaml.syntax', 2],
  ['a tab that indents', 'a:\n\t- b', 'yaml.syntax', 2],
  ['a key twice', 'a: 1\nb: 2\na: 3', 'yaml.duplicate_key', 3],
  ['a number and a text that are one key', '1: a\n"1": b', 'yaml.duplicate_key', 2],
  ['a key twice in a flow', '{a: {b: 1, b: 2}}', 'yaml.duplicate_key', 1],
  ['two merges', '<<: {a: 1}\n<<: {b: 1}', 'yaml.duplicate_key', 2],
  ['two documents', 'a: 1\n---\nb: 2', 'yaml.documents', 2],
  ['a list as a key', '? [a]\n: b', 'yaml.key', 1],
  ['an alias of nothing', 'a: *missing', 'yaml.alias', 1],
  ['an alias inside of what it stands for', 'a: &x\n  b: *x', 'yaml.alias', 2],
]

for (const [what, text, type, line] of UNREADABLE) {
  t.test(`${what} cannot be read, and the error has the line`, t => {
    const [failure] = failuresOf(text)
    t.match(failure, { message: String, line })
    t.equal(failure?.type, type)
    t.end()
  })
}

t.test('every duplicate key is reported', t => {
  t.strictSame(
    failuresOf('a: 1\na: 2\nb: 1\nb: 2').map(({ line }) => line),
    [2, 4],
  )
  t.end()
})

const laughs = (levels: number) =>
  ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
    .concat(
      Array.from(
        { length: levels },
        (_, n) => `a${n + 1}: &a${n + 1} [${Array(9).fill(`*a${n}`).join(', ')}]`,
      ),
    )
    .join('\n')

const filled = (line: (n: number) => string) => {
  const lines: string[] = []
  for (let n = 0, size = 0; size < MAX_BYTES - 100; n++) {
    lines.push(line(n))
    size += line(n).length + 1
  }
  return lines.join('\n')
}

/** What is made to harm, as large as is allowed. */
const HOSTILE: Record<string, string> = {
  'an alias bomb': laughs(9),
  'very many aliases of one anchor': `a: &a x\nb:\n${'  - *a\n'.repeat(20_000)}`,
  'very many keys': filled(n => `k${n}: 1`),
  'very many keys that are the same': filled(() => 'k: 1'),
  'very many items': filled(() => '- 1'),
  'deep lists': '['.repeat(100_000) + ']'.repeat(100_000),
  'deep lists that are not closed': '['.repeat(MAX_BYTES - 1),
  'deep objects': '{a: '.repeat(40_000) + '}'.repeat(40_000),
  'deep blocks': Array.from({ length: 600 }, (_, n) => `${' '.repeat(n)}a:`).join('\n'),
  'a chain of merges': filled(n => (n === 0 ? 'a0: &a0 {k: 1}' : `a${n}: &a${n}\n  <<: *a${n - 1}`)),
  'very many anchors': filled(n => `k${n}: &a${n} 1`),
  'very many errors': `apiVersion: v3.1.0\ntags:\n${'  - 1\n'.repeat(40_000)}`,
  'very many rules without an operator': `apiVersion: v3.1.0\nschema:\n  - name: a\n    quality:\n${'      - metric: rowCount\n'.repeat(10_000)}`,
  'one long text': `a: "${'x'.repeat(MAX_BYTES - 10)}"`,
  'very many comments': filled(() => '#'),
  'very many documents': filled(() => '---'),
  'very many tags': filled(n => `k${n}: !t${n} 1`),
  'a reference that takes long to compare': `apiVersion: v3.1.0\nschema:\n  - name: a\n    relationships:\n      - from: ${'a/'.repeat(60_000)}\n        to: ${'/.yaml'.repeat(20_000)}\n`,
}

t.test('what is made to harm gets an answer, and the next contract is served', async t => {
  const validator = makeValidator(t)
  for (const [what, text] of share(Object.entries(HOSTILE), 'hostile contracts')) {
    const given = await validator.validate({ text }, 'one').then(
      ({ valid }) => (valid ? 'valid' : 200),
      (error: { output?: { statusCode: number } }) => error.output?.statusCode ?? error,
    )
    t.ok([200, 400, 413, 422].includes(given as number), `${what}: ${String(given)}`)
  }
  const { valid } = await validator.validate({ text: 'apiVersion: v3.1.0' }, 'one')
  t.equal(valid, false, 'and then the next is served')
})

/** Ways to nest, each by how many levels. */
const NESTED: Record<string, (levels: number) => string> = {
  'flow sequences': levels => `a: ${'['.repeat(levels)}${']'.repeat(levels)}`,
  'flow maps': levels => '{a: '.repeat(levels) + '1' + '}'.repeat(levels),
  JSON: levels => '{"a":['.repeat(levels / 2) + ']}'.repeat(levels / 2),
  'pairs in flow sequences': levels => '[a: '.repeat(levels) + ']'.repeat(levels),
  'block sequences': levels => `${'- '.repeat(levels)}a`,
  'keys of keys': levels => `${'? '.repeat(levels)}a`,
  'a key in flow style': levels => `? ${'['.repeat(levels)}${']'.repeat(levels)}\n: 1`,
}

t.test('nesting beyond 32 levels is refused by one sentence, however deep it goes', async t => {
  const validator = makeValidator(t)
  const nested = Object.entries(NESTED).flatMap(([what, nest]) =>
    [40, 500, 5_000, 20_000, 40_000].map(levels => ({ what, nest, levels })),
  )
  for (const { what, nest, levels } of share(nested, 'nested contracts')) {
    const text = nest(levels)
    const error = await validator.validate({ text }, 'one').catch((error: unknown) => error)
    t.match(
      error,
      {
        output: { statusCode: 400 },
        message: /^The contract cannot be read: line 1: nested deeper than 32 levels: flatten it$/,
      },
      `${what}, ${levels} levels`,
    )
  }
})

t.test('of one address two wait, of all addresses eight, and later ones are served', async t => {
  const validator = makeValidator(t)
  const text = 'apiVersion: v3.1.0'
  const ask = (address: string) => validator.validate({ text }, address)
  const asked = [1, 2, 3].map(() => ask('one'))
  await t.rejects(ask('one'), REFUSED_FOR_NOW)
  asked.push(...Array.from({ length: 6 }, (_, index) => ask(`other ${index}`)))
  await t.rejects(ask('last'), REFUSED_FOR_NOW, 'no more than wait in all')
  t.equal((await Promise.all(asked)).length, 9)
  t.match(await ask('one'), { valid: false }, 'the address is served later')
})

t.test('contracts of clients without a credential leave companies a thread', async t => {
  const validator = makeValidator(t)
  const text = 'apiVersion: v3.1.0'
  const order: string[] = []
  const slow = `apiVersion: v3.1.0\nschema:\n  - name: a\n    quality:\n${'      - metric: rowCount\n'.repeat(2_000)}`
  const asked = ['one', 'two', 'three'].map(address =>
    validator.validate({ text: slow }, address).then(
      () => order.push(address),
      () => order.push(address),
    ),
  )
  await validator.read({ text }, 'a company')
  order.push('a company')
  await Promise.all(asked)
  t.not(order.at(-1), 'a company', order.join(', '))
})

t.test('a contract that takes too much time or memory to read is refused as too large', async t => {
  const pool = createTextPool()
  t.teardown(() => pool.stop())
  for (const [limits, message] of [
    [{ cpuMs: 1 }, /too much time to read/],
    [{ megabytes: 1 }, /too much memory to read/],
  ] as const) {
    const run: typeof pool.run = (task, input, options) => pool.run(task, input, { ...options, ...limits })
    const { validate } = createValidator({ ...pool, run })
    const text = HOSTILE['very many rules without an operator']!
    await t.rejects(validate({ text }, 'one'), { output: { statusCode: 413 }, message } as unknown as Error)
  }
})

t.test('an anchor may be given anew inside of what had it before', t => {
  const { value } = parse('a: &x\n  b: &x [1]\n  c: *x\n')
  t.strictSame(value, { a: { b: [1], c: [1] } })
  t.end()
})

t.test('a merge key gets a warning with its line', t => {
  const { value, doubts } = parse('a: &x {b: 1}\nc:\n  <<: *x\n')
  t.strictSame(value, { a: { b: 1 }, c: { '<<': { b: 1 } } })
  t.match(doubts, [{ type: 'yaml.merge', line: 3, message: /write out/ }])
  t.notMatch(doubts[0]?.message, /line/, 'the line stands beside it')
  t.end()
})

t.test('a fault that repeats in one line is reported once', t => {
  const messages = failuresOf(`a: ${'['.repeat(50)}\n`).map(({ message }) => message)
  t.ok(messages.length > 0)
  t.equal(new Set(messages).size, messages.length)
  t.end()
})
