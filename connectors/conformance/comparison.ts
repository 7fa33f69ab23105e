import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { ColumnInfo } from '../catalog.ts'
import type { Value } from '../connector.ts'
import type { ComparisonDialect, MomentPrecision, ValueFamily } from '../dialect.ts'
import { raw, sql, type Sql } from '../sql.ts'
import { fixtureTypes, momentsOf, optionalTypes, TEXTS, type OptionalType } from './fixture.ts'
import type { ConformanceKit, PromiseGroup } from './kit.ts'

/** `dialect.comparison`, by which tables are compared with those of other engines. */
export const comparisonGroup: PromiseGroup = {
  name: 'comparison',
  isClaimed: ({ dialect }) => dialect.comparison !== undefined,
  async run(kit) {
    const forms = kit.connector.dialect.comparison!
    await holdTexts(kit, forms)
    await holdChecksums(kit, forms)
    await holdKeys(kit, forms)
    await holdRules(kit, forms)
  },
}

/** How each value of row 1 of `conformance_types` is written. */
const SAMPLES: Readonly<Record<OptionalType, { family: ValueFamily; text: RegExp }>> = {
  decimal: {
    family: 'number',
    text: /^(123456789012345678\.9|1\.2345678901234568e\+?17|123456789012345680)$/,
  },
  boolean: { family: 'boolean', text: /^1$/ },
  binary: { family: 'binary', text: /^00ff10$/ },
  date: { family: 'date', text: /^2024-02-29$/ },
  time: { family: 'time', text: /^12:34:56(\.0+)?$/ },
  timestamp: { family: 'timestamp', text: /^2024-02-29 12:34:56(\.0+)?$/ },
  timestamptz: { family: 'timestamp', text: /^2024-02-29 12:34:56(\.0+)?$/ },
  json: { family: 'json', text: /^\{.*\}$/s },
}

/** The values of `conformance_values.ratio` by id. */
const RATIOS = [0.5, -1.25, 1e10, null, 2]
/** The values of `conformance_values.big` by id. */
const INTEGERS = ['9007199254740991', '9007199254740993', '-9223372036854775807', '0', null]

async function holdTexts(kit: ConformanceKit, forms: ComparisonDialect): Promise<void> {
  for (const [type, { family, text }] of Object.entries(SAMPLES) as [
    OptionalType,
    (typeof SAMPLES)[OptionalType],
  ][]) {
    const isThere = optionalTypes(kit.fixture).includes(type)
    const reason = isThere ? undefined : `${kit.connector.label} has no such type`
    await kit.holdsUnless(
      reason,
      `${type}: text() writes a value as other engines do, and NULL as NULL`,
      async () => {
        const [value, none] = await textsOf(kit, forms, 'conformance_types', `${type}_value`, family)
        assert.match(String(value), text)
        assert.equal(none, null)
        if (type === 'decimal' && forms.hasExactDecimals) assert.equal(value, '123456789012345678.9')
      },
    )
  }
  await kit.holds('integers are written with every digit', async () =>
    assert.deepEqual(await textsOf(kit, forms, 'conformance_values', 'big', 'number'), INTEGERS),
  )
  await kit.holds('doubles are written as what they are, without zeros at the end', async () => {
    const found = await textsOf(kit, forms, 'conformance_values', 'ratio', 'number')
    assert.deepEqual(
      found.map(text => (text === null ? null : Number(text))),
      RATIOS,
    )
    for (const text of found) assert.doesNotMatch(text ?? '', /\.\d*0$|\.$/)
  })
  await kit.holds('texts are written as they are, and the empty one is not NULL', async () =>
    assert.deepEqual(await textsOf(kit, forms, 'conformance_texts', 'label', 'text'), [...TEXTS]),
  )
}

/** The texts of a column, in the order of ids. */
async function textsOf(
  kit: ConformanceKit,
  forms: ComparisonDialect,
  table: string,
  column: string,
  family: ValueFamily,
): Promise<(string | null)[]> {
  const written = forms.text(kit.quote(column), family, await columnInfo(kit, table, column))
  return listOf(kit, table, written)
}

/** A value of each row of a table, in the order of ids. */
async function listOf(kit: ConformanceKit, table: string, value: Sql): Promise<(string | null)[]> {
  const rows = await kit.query(
    sql`select ${value} as ${kit.quote('v')} from ${kit.table(table)} order by ${kit.quote('id')}`,
  )
  return rows.map(({ v }) => (v === null || v === undefined ? null : String(v)))
}

async function columnInfo(kit: ConformanceKit, table: string, name: string): Promise<ColumnInfo> {
  const [found] = await kit.introspect(table)
  const column = found?.columns.find(each => each.name === name)
  assert.ok(column, `introspect lists ${table}.${name}`)
  return column
}

/** Rows are cut by at most so many digits. */
const MAX_SLOT_DIGITS = 7

const md5 = (text: string) => createHash('md5').update(text, 'utf8').digest('hex')
const sumOf = (texts: readonly string[]) =>
  texts.map(text => BigInt(`0x${md5(text).slice(0, 15)}`)).reduce((sum, each) => sum + each, 0n)

async function holdChecksums(kit: ConformanceKit, forms: ComparisonDialect): Promise<void> {
  const label = kit.quote('label')
  const checksum = (from: Sql) => kit.value(sql`select ${forms.checksum(label)} as checksum from ${from}`)
  await kit.holds('checksum() adds up the first 60 bits of the MD5 of each text', async () =>
    assert.equal(wholeNumber(await checksum(kit.table('conformance_texts'))), sumOf(TEXTS)),
  )
  await kit.holds('the checksum of thousands of texts does not overflow', async () => {
    const texts = Array.from({ length: 1_000 }, () => 'd7')
    const sevens = sql`(select ${label} from ${kit.table('conformance_rows')} where ${kit.quote('digit')} = 7) sevens`
    assert.equal(wholeNumber(await checksum(sevens)), sumOf(texts))
  })
  await kit.holds('the checksum of no rows is NULL', async () =>
    assert.equal(await checksum(kit.table('conformance_empty')), null),
  )
  await kit.holds('slot() is the number of the first digits of the MD5 of a text', async () => {
    for (const digits of [1, 3, MAX_SLOT_DIGITS])
      assert.deepEqual(
        (await listOf(kit, 'conformance_texts', forms.slot(label, digits))).map(Number),
        TEXTS.map(text => Number.parseInt(md5(text).slice(0, digits), 16)),
        `${digits} digits`,
      )
  })
}

function wholeNumber(value: Value | undefined): bigint {
  assert.match(String(value), /^\d+(\.0+)?$/, 'all digits of a whole number arrive')
  return BigInt(String(value).split('.')[0]!)
}

async function holdKeys(kit: ConformanceKit, forms: ComparisonDialect): Promise<void> {
  const [id, label, big] = ['id', 'label', 'big'].map(kit.quote) as [Sql, Sql, Sql]
  const texts = kit.table('conformance_texts')
  await kit.holds('bytes() orders texts by their bytes, whatever the collation', async () => {
    const rows = await kit.query(
      sql`select ${label} as ${kit.quote('v')} from ${texts} order by ${forms.bytes(label)}`,
    )
    const expected = TEXTS.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    assert.deepEqual(
      rows.map(({ v }) => v),
      expected,
    )
  })
  await kit.holds('isSame() holds of equal values and of two NULLs, and of nothing else', async () => {
    const [one, other] = ['a', 'b'].map(alias => sql`${raw(alias)}.${big}`) as [Sql, Sql]
    const values = kit.table('conformance_values')
    const [row] = await kit.query(
      sql`select count(*) as ${kit.quote('n')} from ${values} a cross join ${values} b where ${forms.isSame(one, other)}`,
    )
    assert.equal(Number(row?.n), INTEGERS.length, 'each value is the same as itself alone')
  })
  await kit.holds('steps() counts whole steps from a lower bound, also one below 0', async () => {
    const steps = ([from, size]: [bigint, bigint]) => forms.steps(id, from, size)
    const [up, below] = (
      [
        [1n, 1_000n],
        [-500n, 1_000n],
      ] as [bigint, bigint][]
    ).map(steps) as [Sql, Sql]
    const rows = await kit.query(
      sql`select ${id} as ${kit.quote('id')}, ${up} as ${kit.quote('up')}, ${below} as ${kit.quote('below')} from ${kit.table('conformance_rows')} where ${id} in (1, 499, 500, 1000, 1001, 10000) order by ${id}`,
    )
    assert.deepEqual(
      rows.map(row => [Number(row.up), Number(row.below)]),
      [1, 499, 500, 1_000, 1_001, 10_000].map(n => [
        Math.floor((n - 1) / 1_000),
        Math.floor((n + 500) / 1_000),
      ]),
    )
  })
  await kit.holds('wide() lets the farthest integers be subtracted', async () => {
    const values = kit.table('conformance_values')
    const [high, low] = ['a', 'b'].map(alias => forms.wide(sql`${raw(alias)}.${big}`)) as [Sql, Sql]
    const distance = await kit.value(
      sql`select ${high} - ${low} as distance from ${values} a cross join ${values} b where a.${id} = 1 and b.${id} = 3`,
    )
    assert.equal(Number(distance), 9_232_379_236_109_516_798)
  })
}

/** Texts of letters that only some functions can lower. */
const LETTERS = ['ÄÉ', 'Straße', 'ΩΛ'] as const

async function holdRules(kit: ConformanceKit, forms: ComparisonDialect): Promise<void> {
  const letters = 'conformance_letters'
  await kit.holds('lower() lowers letters beyond ASCII, too', async () => {
    const types = fixtureTypes(kit.fixture)
    await kit.write({
      name: letters,
      columns: [
        { name: 'id', type: types.integer },
        { name: 'label', type: types.varchar },
      ],
      rows: LETTERS.map((text, index) => [String(index + 1), `'${text}'`]),
    })
    assert.deepEqual(
      await listOf(kit, letters, forms.lower(kit.quote('label'))),
      LETTERS.map(text => text.toLowerCase()),
    )
  })
  const isExact = forms.hasExactDecimals && optionalTypes(kit.fixture).includes('decimal')
  await kit.holdsUnless(
    isExact ? undefined : 'decimals are not exact',
    'round() rounds to digits behind the point',
    async () => {
      const column = await columnInfo(kit, 'conformance_types', 'decimal_value')
      const rounded = forms.round(kit.quote('decimal_value'), 0, column)
      const [text] = await listOf(kit, 'conformance_types', forms.text(rounded, 'number', column))
      assert.equal(text, '123456789012345679')
    },
  )
  const moments = momentsOf(kit.fixture).timestamp
  await kit.holdsUnless(
    moments ? undefined : `${kit.connector.label} has no timestamps`,
    'cutMoment() leaves out what is finer than a second',
    async () => {
      const column = await columnInfo(kit, 'conformance_moments', 'timestamp_value')
      const list = (text: Sql) => listOf(kit, 'conformance_moments', text)
      const moment = kit.quote('timestamp_value')
      const whole = await list(forms.text(moment, 'timestamp', column))
      for (const [precision, digits] of PRECISIONS) {
        const cut = await list(forms.cutMoment(moment, precision, column))
        assert.deepEqual(
          cut.map(text => withFraction(text, digits)),
          whole.map(text => withFraction(text, digits)),
          precision,
        )
        for (const text of cut) assert.ok((fractionOf(text) ?? '').length <= digits, `${precision}: ${text}`)
      }
    },
  )
}

const PRECISIONS: readonly (readonly [MomentPrecision, number])[] = [
  ['second', 0],
  ['millisecond', 3],
  ['microsecond', 6],
]

/** A regular expression would look at a long row of zeros once from each of them. */
function withoutLastZeros(digits: string): string {
  let length = digits.length
  while (digits[length - 1] === '0') length--
  return digits.slice(0, length)
}

/** The digits of a second in a moment, without the zeros at their end, which say nothing. */
function fractionOf(text: string | null): string | undefined {
  const fraction = text?.split('.')[1]
  return fraction === undefined ? undefined : withoutLastZeros(fraction)
}

/** A moment with at most so many digits of its second. */
function withFraction(text: string | null, digits: number): string | undefined {
  const fraction = withoutLastZeros((fractionOf(text) ?? '').slice(0, digits))
  return text?.replace(/\.\d+$/, '').concat(fraction === '' ? '' : `.${fraction}`)
}
