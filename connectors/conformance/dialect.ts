import assert from 'node:assert/strict'
import type { Value } from '../connector.ts'
import { join, raw, sql, Sql } from '../sql.ts'
import { TEXTS } from './fixture.ts'
import { HOSTILE_TEXTS } from './values.ts'
import { query, queryValue, type ConformanceKit, type PromiseGroup } from './kit.ts'
import { momentsGroup } from './moments.ts'
import { profilesGroup } from './profiles.ts'
import { secondsGroup } from './seconds.ts'

/** Texts by strptime format: real calendar dates in exactly that format, and others. */
const DATE_CASES: Readonly<Record<string, { real: string[]; unreal: string[] }>> = {
  '%Y-%m-%d': {
    real: ['2024-02-29', '2000-02-29', '2024-12-31'],
    unreal: [
      ...['2023-02-29', '1900-02-29', '2024-02-30', '2024-04-31', '2024-13-01', '2024-00-10', '2024-01-00'],
      ...[
        '0000-01-01',
        '2024-1-5',
        '2024-01-05 ',
        ' 2024-01-05',
        '2024-01-05x',
        '2024-01-05\n',
        '2024/01/05',
      ],
      ...['20240105', '99999999999999-01-01', '', `'; select 1; --`],
    ],
  },
  '%d.%m.%Y': { real: ['31.12.2024'], unreal: ['31x12x2024'] },
  '%m/%d/%y': { real: ['02/29/24', '02/29/00'], unreal: ['02/29/23'] },
  '%Y%m%d': { real: ['20240229'], unreal: ['20230229'] },
  '%Y-%m-%dT%H:%M:%S': {
    real: ['2024-02-29T23:59:59'],
    unreal: ['2024-02-29T24:00:00', '2024-02-29T12:60:00', '2024-02-29T12:00'],
  },
  '%Y-%m-%d %H:%M:%S.%f': { real: ['2024-02-29 12:00:00.123456'], unreal: ['2024-02-29 12:00:00.'] },
  '%Y-%m-%dT%H:%M:%S%z': {
    real: ['2024-02-29T12:00:00+0100', '2024-02-29T12:00:00Z'],
    unreal: ['2024-02-29T12:00:00'],
  },
  '%d %b %Y': { real: ['29 Feb 2024'], unreal: ['29 Feb 2023', '29 Xyz 2024'] },
  '%B %d, %Y': { real: ['February 29, 2024'], unreal: ['April 31, 2024'] },
}

/** How the dialect writes SQL, run in the engine. */
export const dialectGroups: readonly PromiseGroup[] = [
  {
    name: 'dialect',
    async run(kit) {
      const { dialect } = kit.connector
      const values = kit.table('conformance_values')
      const [id, label, big, ratio] = ['id', 'label', 'big', 'ratio'].map(kit.quote) as [Sql, Sql, Sql, Sql]
      await kit.holds('countIf counts rows, NULL conditions and empty tables as 0', async () => {
        const count = async (condition: Sql, table: string) => {
          const found = await measure(kit, dialect.countIf(condition), table)
          assert.notEqual(found, null, 'none is 0, not NULL')
          return Number(found)
        }
        assert.equal(await count(sql`${id} > ${2}`, 'conformance_values'), 3)
        assert.equal(await count(sql`${big} > ${0}`, 'conformance_values'), 2)
        assert.equal(await count(sql`${label} is null`, 'conformance_values'), 1)
        assert.equal(await count(sql`${id} > ${99}`, 'conformance_values'), 0)
        assert.equal(await count(sql`${id} > ${0}`, 'conformance_empty'), 0)
      })
      await kit.holds('countIf takes a whole condition', async () => {
        const condition = sql`${id} = ${1} or ${id} = ${2}`
        assert.equal(Number(await measure(kit, dialect.countIf(condition), 'conformance_values')), 2)
      })
      await kit.holds('isNull and isNotNull part NULL from the empty text', async () => {
        for (const [table, nulls, present] of [
          ['conformance_values', 1, 4],
          ['conformance_texts', 0, TEXTS.length],
        ] as const) {
          const count = async (condition: Sql) =>
            Number(await measure(kit, dialect.countIf(condition), table))
          assert.equal(await count(dialect.isNull(label)), nulls, table)
          assert.equal(await count(dialect.isNotNull(label)), present, table)
        }
      })
      await kit.holds('isOneOf lists texts, whatever they hold', async () => {
        const count = async (texts: readonly string[]) =>
          Number(await measure(kit, dialect.countIf(dialect.isOneOf(label, texts)), 'conformance_texts'))
        assert.equal(await count(['beta.1', `it's`, 'absent', ...HOSTILE_TEXTS.filter(Boolean)]), 2)
        assert.equal(await count(HOSTILE_TEXTS), 1, 'the empty text is a text')
      })
      await kit.holds('asNumber can be added up, averaged and compared with fractions', async () => {
        const number = dialect.asNumber(id)
        assert.equal(Number(await measure(kit, sql`sum(${number})`, 'conformance_values')), 15)
        const mean = sql`avg(${dialect.asNumber(ratio)})`
        assert.equal(Number(await measure(kit, mean, 'conformance_values')), 2500000000.3125)
        const between = sql`${number} >= ${1.5} and ${number} <= ${1e12}`
        assert.equal(Number(await measure(kit, dialect.countIf(between), 'conformance_values')), 4)
      })
      await kit.holds('the sum leaves out NULL, and is NULL of no rows', async () => {
        assert.equal(Number(await measure(kit, dialect.sum(id), 'conformance_values')), 15)
        const rest = dialect.sum(ratio)
        assert.equal(Number(await measure(kit, rest, 'conformance_values')), 4 * 2500000000.3125)
        assert.equal(await measure(kit, dialect.sum(id), 'conformance_empty'), null)
      })
      await kit.holds('asText compares with texts', async () => {
        const hits = dialect.countIf(sql`${dialect.asText(id)} in (${'1'}, ${'5'}, ${'x'})`)
        assert.equal(Number(await measure(kit, hits, 'conformance_values')), 2)
        const texts = dialect.countIf(sql`${dialect.asText(label)} = ${'one'}`)
        assert.equal(Number(await measure(kit, texts, 'conformance_values')), 1)
      })
      await kit.holds('a text that is written out comes back', async () => {
        const literals = HOSTILE_TEXTS.map(text => dialect.textLiteral(text))
        const columns = literals.map((literal, index) => sql`${literal} as ${raw(`v${index}`)}`)
        const [row] = await kit.query(sql`select ${join(columns)}`)
        assert.deepEqual(Object.values(row ?? {}), HOSTILE_TEXTS)
      })
      await kit.holds('limit gives the first rows of an ordered select', async () => {
        const first = dialect.limit(sql`select ${id} from ${values} where ${id} > ${1} order by ${id}`, 2)
        assert.deepEqual(await kit.query(first), [{ id: 2 }, { id: 3 }])
      })
      await kit.holdsInSession(
        'as many values and columns fit into one statement as the limits say',
        async connection => {
          const { limits } = dialect
          const columns = Array.from({ length: limits.columns }, (_, index) => `count(*) as c${index}`)
          const [row = {}] = await query(connection, sql`select ${raw(columns.join(', '))} from ${values}`)
          assert.equal(Object.keys(row).length, limits.columns)
          const ids = Array.from({ length: limits.values }, (_, index) => index + 1)
          const listed = new Sql(['', ...ids.slice(1).map(() => ', '), ''], ids)
          const long = sql`select count(*) as n from ${values} where ${id} in (${listed})`
          assert.equal(Number(await queryValue(connection, long)), 5)
        },
      )
    },
  },
  secondsGroup,
  momentsGroup,
  profilesGroup,
  {
    name: 'regex',
    needs: 'regex',
    async run(kit) {
      const { dialect } = kit.connector
      const [id, label] = ['id', 'label'].map(kit.quote) as [Sql, Sql]
      const ids = async (condition: Sql) => {
        const texts = kit.table('conformance_texts')
        const rows = await kit.query(sql`select ${id} from ${texts} where ${condition} order by ${id}`)
        return rows.map(row => Number(row.id))
      }
      await kit.holds('a pattern is searched, with case as the column compares it, and bound', async () => {
        const flags = (await ids(sql`${label} = ${'ALPHA'}`)).length > 0 ? 'i' : ''
        for (const pattern of ['lph', '^a', '^[0-9]+$', '(beta|b[+])', `t's$`, '^$']) {
          const found = await ids(dialect.matches(label, pattern))
          assert.deepEqual(found, matching(new RegExp(pattern, flags)), pattern)
        }
        assert.deepEqual(await ids(dialect.matches(label, `') or 1=1 --`)).catch(() => []), [])
      })
      await kit.holds('a NULL text gives NULL', async () => {
        const hit = sql`case when (${dialect.matches(label, 'o')}) is null then 1 else 0 end`
        assert.equal(Number(await measure(kit, sql`sum(${hit})`, 'conformance_values')), 1)
      })
      await kit.holds('ten thousand rows are searched, and none', async () => {
        const hits = dialect.countIf(dialect.matches(label, '^d[78]$'))
        assert.equal(Number(await measure(kit, hits, 'conformance_rows')), 2000)
        assert.equal(Number(await measure(kit, hits, 'conformance_empty')), 0)
      })
    },
  },
  {
    name: 'percentile',
    needs: 'percentile',
    async run(kit) {
      const { dialect } = kit.connector
      const [id, ratio, digit] = ['id', 'ratio', 'digit'].map(kit.quote) as [Sql, Sql, Sql]
      const of = async (column: Sql, fraction: number, table: string) =>
        measure(kit, dialect.percentile(column, fraction, kit.table(table)), table)
      await kit.holds('percentiles are exact, interpolated and skip NULL', async () => {
        assert.equal(Number(await of(id, 0.5, 'conformance_values')), 3)
        assert.equal(Number(await of(id, 0.9, 'conformance_values')), 4.6)
        assert.equal(Number(await of(id, 0, 'conformance_values')), 1)
        assert.equal(Number(await of(id, 1, 'conformance_values')), 5)
        assert.equal(Number(await of(ratio, 0.5, 'conformance_values')), 1.25)
        assert.equal(await of(id, 0.5, 'conformance_empty'), null)
      })
      await kit.holds('percentiles of ten thousand rows are exact', async () => {
        assert.equal(Number(await of(id, 0.5, 'conformance_rows')), 5000.5)
        // 0.99 of 9,999 steps, as a double has it.
        assert.ok(Math.abs(Number(await of(id, 0.99, 'conformance_rows')) - 9900.01) < 1e-6)
        assert.equal(Number(await of(digit, 0.5, 'conformance_rows')), 4.5)
        assert.equal(Number(await of(digit, 1, 'conformance_rows')), 9)
      })
      const { percentiles } = dialect
      if (percentiles)
        await kit.holds('several percentiles are those of one each, in their order', async () => {
          const fractions = [0.9, 0, 0.5, 1]
          for (const table of ['conformance_values', 'conformance_empty']) {
            const from = kit.table(table)
            const all = sql`${percentiles.select(id, fractions)} as ${kit.quote('every')}`
            const each = fractions.map(
              (_, index) =>
                sql`d.${kit.quote('every')}${percentiles.subscript(index)} as ${kit.quote(`p${index}`)}`,
            )
            const [row = {}] = await kit.query(sql`select ${join(each)} from (select ${all} from ${from}) d`)
            const own = await Promise.all(fractions.map(fraction => of(id, fraction, table)))
            assert.deepEqual(Object.values(row).map(String), own.map(String))
          }
        })
      await kit.holds('a percentile stands beside other aggregates in one SELECT', async () => {
        const values = kit.table('conformance_values')
        const half = dialect.percentile(id, 0.5, values)
        const [row = {}] = await kit.query(sql`select count(*) as n, ${half} as half from ${values}`)
        assert.deepEqual(Object.values(row).map(Number), [5, 3])
      })
    },
  },
  {
    name: 'groupedPercentile',
    needs: 'groupedPercentile',
    async run(kit) {
      const { dialect } = kit.connector
      const [id, digit] = ['id', 'digit'].map(kit.quote) as [Sql, Sql]
      await kit.holdsInSession('each group has its own percentile', async connection => {
        const from = kit.table('conformance_rows')
        const half = sql`${dialect.percentile(id, 0.5, from)} as ${kit.quote('half')}`
        const key = sql`${digit} as ${kit.quote('d')}`
        const rows = await query(connection, sql`select ${key}, ${half} from ${from} group by ${digit}`)
        const own = await Promise.all(
          rows.map(({ d }) => queryValue(connection, sql`select ${half} from ${from} where ${digit} = ${d}`)),
        )
        assert.equal(rows.length, 10)
        assert.deepEqual(
          rows.map(row => Number(row.half)),
          own.map(Number),
        )
        assert.equal(new Set(own.map(Number)).size, 10, 'the groups differ')
      })
    },
  },
  {
    name: 'dateParsing',
    needs: 'dateParsing',
    async run(kit) {
      const { dialect } = kit.connector
      for (const [format, { real, unreal }] of Object.entries(DATE_CASES)) {
        const promise = `${format} takes real calendar dates in exactly this form, and nothing throws`
        await kit.holds(promise, async () => {
          const texts = [...real, ...unreal]
          const hits = texts.map((text, index) => {
            const isDate = dialect.parsesAsDate(sql`${text}`, format)
            return sql`case when ${isDate} then 1 else 0 end as ${raw(`v${index}`)}`
          })
          const [row = {}] = await kit.query(sql`select ${join(hits)}`)
          const judged = Object.values(row).map(Number)
          assert.deepEqual(
            texts.filter((_, index) => judged[index] === 1),
            real,
          )
          assert.equal(judged.filter(hit => hit === 0).length, unreal.length)
        })
      }
      await kit.holds('a column is judged row by row', async () => {
        const hits = dialect.countIf(dialect.parsesAsDate(kit.quote('label'), '%Y-%m-%d'))
        for (const table of ['conformance_texts', 'conformance_rows', 'conformance_empty'])
          assert.equal(Number(await measure(kit, hits, table)), 0, table)
      })
    },
  },
]

/** One measure over a fixture table. */
function measure(kit: ConformanceKit, expression: Sql, table: string): Promise<Value | undefined> {
  return kit.value(sql`select ${expression} as v from ${kit.table(table)}`)
}

/** The ids of the fixture's texts that JavaScript finds a pattern in. */
function matching(pattern: RegExp): number[] {
  return TEXTS.flatMap((text, index) => (pattern.test(text) ? [index + 1] : []))
}
