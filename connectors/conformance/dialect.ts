import assert from 'node:assert/strict'
import type { Value } from '../connector.ts'
import { join, raw, sql, Sql } from '../sql.ts'
import { TEXTS } from './fixture.ts'
import { HOSTILE_TEXTS } from './values.ts'
import { singleValue, QUERY_OPTIONS, type PromiseGroup, type ConformanceKit } from './kit.ts'
import { momentsGroup } from './moments.ts'
import { secondsGroup } from './seconds.ts'

/** strptime format, text, whether the text is a real calendar date in exactly that format. */
const DATE_CASES: readonly (readonly [string, string, boolean])[] = [
  ['%Y-%m-%d', '2024-02-29', true],
  ['%Y-%m-%d', '2023-02-29', false],
  ['%Y-%m-%d', '1900-02-29', false],
  ['%Y-%m-%d', '2000-02-29', true],
  ['%Y-%m-%d', '2024-02-30', false],
  ['%Y-%m-%d', '2024-04-31', false],
  ['%Y-%m-%d', '2024-12-31', true],
  ['%Y-%m-%d', '2024-13-01', false],
  ['%Y-%m-%d', '2024-00-10', false],
  ['%Y-%m-%d', '2024-01-00', false],
  ['%Y-%m-%d', '0000-01-01', false],
  ['%Y-%m-%d', '2024-1-5', false],
  ['%Y-%m-%d', '2024-01-05 ', false],
  ['%Y-%m-%d', ' 2024-01-05', false],
  ['%Y-%m-%d', '2024-01-05x', false],
  ['%Y-%m-%d', '2024-01-05\n', false],
  ['%Y-%m-%d', '2024/01/05', false],
  ['%Y-%m-%d', '20240105', false],
  ['%Y-%m-%d', '99999999999999-01-01', false],
  ['%Y-%m-%d', '', false],
  ['%Y-%m-%d', `'; select 1; --`, false],
  ['%d.%m.%Y', '31.12.2024', true],
  ['%d.%m.%Y', '31x12x2024', false],
  ['%m/%d/%y', '02/29/24', true],
  ['%m/%d/%y', '02/29/23', false],
  ['%m/%d/%y', '02/29/00', true],
  ['%Y%m%d', '20240229', true],
  ['%Y%m%d', '20230229', false],
  ['%Y-%m-%dT%H:%M:%S', '2024-02-29T23:59:59', true],
  ['%Y-%m-%dT%H:%M:%S', '2024-02-29T24:00:00', false],
  ['%Y-%m-%dT%H:%M:%S', '2024-02-29T12:60:00', false],
  ['%Y-%m-%dT%H:%M:%S', '2024-02-29T12:00', false],
  ['%Y-%m-%d %H:%M:%S.%f', '2024-02-29 12:00:00.123456', true],
  ['%Y-%m-%d %H:%M:%S.%f', '2024-02-29 12:00:00.', false],
  ['%Y-%m-%dT%H:%M:%S%z', '2024-02-29T12:00:00+0100', true],
  ['%Y-%m-%dT%H:%M:%S%z', '2024-02-29T12:00:00Z', true],
  ['%Y-%m-%dT%H:%M:%S%z', '2024-02-29T12:00:00', false],
  ['%d %b %Y', '29 Feb 2024', true],
  ['%d %b %Y', '29 Feb 2023', false],
  ['%d %b %Y', '29 Xyz 2024', false],
  ['%B %d, %Y', 'February 29, 2024', true],
  ['%B %d, %Y', 'April 31, 2024', false],
]

/** How the dialect writes SQL, run in the engine. */
export const dialectGroups: readonly PromiseGroup[] = [
  {
    name: 'dialect',
    async run(t, kit) {
      const { dialect } = kit.connector
      const values = kit.table('conformance_values')
      const [id, label, big, ratio] = ['id', 'label', 'big', 'ratio'].map(kit.quote) as [Sql, Sql, Sql, Sql]
      await kit.holds(t, 'countIf counts rows, NULL conditions and empty tables as 0', async () => {
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
      await kit.holds(t, 'countIf takes a whole condition', async () => {
        const condition = sql`${id} = ${1} or ${id} = ${2}`
        assert.equal(Number(await measure(kit, dialect.countIf(condition), 'conformance_values')), 2)
      })
      await kit.holds(t, 'asNumber can be added up, averaged and compared with fractions', async () => {
        const number = dialect.asNumber(id)
        assert.equal(Number(await measure(kit, sql`sum(${number})`, 'conformance_values')), 15)
        assert.equal(
          Number(await measure(kit, sql`avg(${dialect.asNumber(ratio)})`, 'conformance_values')),
          2500000000.3125,
        )
        const between = sql`${number} >= ${1.5} and ${number} <= ${1e12}`
        assert.equal(Number(await measure(kit, dialect.countIf(between), 'conformance_values')), 4)
      })
      await kit.holds(t, 'asText compares with texts', async () => {
        const hits = dialect.countIf(sql`${dialect.asText(id)} in (${'1'}, ${'5'}, ${'x'})`)
        assert.equal(Number(await measure(kit, hits, 'conformance_values')), 2)
        const texts = dialect.countIf(sql`${dialect.asText(label)} = ${'one'}`)
        assert.equal(Number(await measure(kit, texts, 'conformance_values')), 1)
      })
      await kit.holds(t, 'a text that is written out comes back', () =>
        kit.session(async connection => {
          const columns = HOSTILE_TEXTS.map(
            (text, index) => sql`${dialect.textLiteral(text)} as ${raw(`v${index}`)}`,
          )
          const [row] = await connection.query(sql`select ${join(columns)}`, QUERY_OPTIONS)
          assert.deepEqual(Object.values(row ?? {}), HOSTILE_TEXTS)
        }),
      )
      await kit.holds(t, 'limit gives the first rows of an ordered select', () =>
        kit.session(async connection => {
          const first = dialect.limit(sql`select ${id} from ${values} where ${id} > ${1} order by ${id}`, 2)
          assert.deepEqual(await connection.query(first, QUERY_OPTIONS), [{ id: 2 }, { id: 3 }])
        }),
      )
      await kit.holds(t, 'as many values and columns fit into one statement as the limits say', () =>
        kit.session(async connection => {
          const columns = Array.from(
            { length: dialect.limits.columns },
            (_, index) => `count(*) as c${index}`,
          )
          const wide = sql`select ${raw(columns.join(', '))} from ${values}`
          assert.equal(
            Object.keys((await connection.query(wide, QUERY_OPTIONS))[0] ?? {}).length,
            dialect.limits.columns,
          )
          const ids = Array.from({ length: dialect.limits.values }, (_, index) => index + 1)
          const listed = new Sql(['', ...ids.slice(1).map(() => ', '), ''], ids)
          const long = sql`select count(*) as n from ${values} where ${id} in (${listed})`
          assert.equal(Number(singleValue(await connection.query(long, QUERY_OPTIONS))), 5)
        }),
      )
    },
  },
  secondsGroup,
  momentsGroup,
  {
    name: 'regex',
    needs: 'regex',
    async run(t, kit) {
      const { dialect } = kit.connector
      const [id, label] = ['id', 'label'].map(kit.quote) as [Sql, Sql]
      const ids = async (condition: Sql) =>
        kit.session(async connection => {
          const texts = kit.table('conformance_texts')
          const rows = await connection.query(
            sql`select ${id} from ${texts} where ${condition} order by ${id}`,
            QUERY_OPTIONS,
          )
          return rows.map(row => Number(row.id))
        })
      await kit.holds(
        t,
        'a pattern is searched, with case as the column compares it, and bound',
        async () => {
          const flags = (await ids(sql`${label} = ${'ALPHA'}`)).length > 0 ? 'i' : ''
          for (const pattern of ['lph', '^a', '^[0-9]+$', '(beta|b[+])', `t's$`, '^$'])
            assert.deepEqual(
              await ids(dialect.matches(label, pattern)),
              matching(new RegExp(pattern, flags)),
              pattern,
            )
          assert.deepEqual(await ids(dialect.matches(label, `') or 1=1 --`)).catch(() => []), [])
        },
      )
      await kit.holds(t, 'a NULL text gives NULL', async () => {
        const hit = sql`case when (${dialect.matches(label, 'o')}) is null then 1 else 0 end`
        assert.equal(Number(await measure(kit, sql`sum(${hit})`, 'conformance_values')), 1)
      })
      await kit.holds(t, 'ten thousand rows are searched, and none', async () => {
        const hits = dialect.countIf(dialect.matches(label, '^d[78]$'))
        assert.equal(Number(await measure(kit, hits, 'conformance_rows')), 2000)
        assert.equal(Number(await measure(kit, hits, 'conformance_empty')), 0)
      })
    },
  },
  {
    name: 'percentile',
    needs: 'percentile',
    async run(t, kit) {
      const { dialect } = kit.connector
      const [id, ratio, digit] = ['id', 'ratio', 'digit'].map(kit.quote) as [Sql, Sql, Sql]
      const of = async (column: Sql, fraction: number, table: string) =>
        measure(kit, dialect.percentile(column, fraction, kit.table(table)), table)
      await kit.holds(t, 'percentiles are exact, interpolated and skip NULL', async () => {
        assert.equal(Number(await of(id, 0.5, 'conformance_values')), 3)
        assert.equal(Number(await of(id, 0.9, 'conformance_values')), 4.6)
        assert.equal(Number(await of(id, 0, 'conformance_values')), 1)
        assert.equal(Number(await of(id, 1, 'conformance_values')), 5)
        assert.equal(Number(await of(ratio, 0.5, 'conformance_values')), 1.25)
        assert.equal(await of(id, 0.5, 'conformance_empty'), null)
      })
      await kit.holds(t, 'percentiles of ten thousand rows are exact', async () => {
        assert.equal(Number(await of(id, 0.5, 'conformance_rows')), 5000.5)
        // 0.99 of 9,999 steps, as a double has it.
        assert.ok(Math.abs(Number(await of(id, 0.99, 'conformance_rows')) - 9900.01) < 1e-6)
        assert.equal(Number(await of(digit, 0.5, 'conformance_rows')), 4.5)
        assert.equal(Number(await of(digit, 1, 'conformance_rows')), 9)
      })
      await kit.holds(t, 'a percentile stands beside other aggregates in one SELECT', () =>
        kit.session(async connection => {
          const values = kit.table('conformance_values')
          const half = dialect.percentile(id, 0.5, values)
          const rows = await connection.query(
            sql`select count(*) as n, ${half} as half from ${values}`,
            QUERY_OPTIONS,
          )
          assert.deepEqual(Object.values(rows[0] ?? {}).map(Number), [5, 3])
        }),
      )
    },
  },
  {
    name: 'groupedPercentile',
    needs: 'groupedPercentile',
    async run(t, kit) {
      const { dialect } = kit.connector
      const [id, digit] = ['id', 'digit'].map(kit.quote) as [Sql, Sql]
      await kit.holds(t, 'each group has its own percentile', () =>
        kit.session(async connection => {
          const from = kit.table('conformance_rows')
          const half = dialect.percentile(id, 0.5, from)
          const rows = await connection.query(
            sql`select ${digit} as ${kit.quote('d')}, ${half} as ${kit.quote('half')} from ${from} group by ${digit} order by ${digit}`,
            QUERY_OPTIONS,
          )
          const own = await Promise.all(
            rows.map(async ({ d }) =>
              singleValue(
                await connection.query(
                  sql`select ${half} as ${kit.quote('half')} from ${from} where ${digit} = ${d}`,
                  QUERY_OPTIONS,
                ),
              ),
            ),
          )
          assert.equal(rows.length, 10)
          assert.deepEqual(
            rows.map(row => Number(row.half)),
            own.map(Number),
          )
          assert.equal(new Set(own.map(Number)).size, 10, 'the groups differ')
        }),
      )
    },
  },
  {
    name: 'dateParsing',
    needs: 'dateParsing',
    async run(t, kit) {
      const { dialect } = kit.connector
      for (const format of new Set(DATE_CASES.map(([name]) => name))) {
        await kit.holds(
          t,
          `${format} takes real calendar dates in exactly this form, and nothing throws`,
          () =>
            kit.session(async connection => {
              const texts = DATE_CASES.filter(([name]) => name === format)
              const hits = texts.map(([, text], index) => {
                const isDate = dialect.parsesAsDate(sql`${text}`, format)
                return sql`case when ${isDate} then 1 else 0 end as ${raw(`v${index}`)}`
              })
              const rows = await connection.query(sql`select ${join(hits)}`, QUERY_OPTIONS)
              const judged = Object.values(rows[0] ?? {}).map(Number)
              assert.deepEqual(
                texts.map(([, text], index) => [text, judged[index]]),
                texts.map(([, text, isValid]) => [text, isValid ? 1 : 0]),
              )
            }),
        )
      }
      await kit.holds(t, 'a column is judged row by row', async () => {
        const hits = dialect.countIf(dialect.parsesAsDate(kit.quote('label'), '%Y-%m-%d'))
        for (const table of ['conformance_texts', 'conformance_rows', 'conformance_empty'])
          assert.equal(Number(await measure(kit, hits, table)), 0, table)
      })
    },
  },
]

/** One measure over a fixture table. */
async function measure(kit: ConformanceKit, expression: Sql, table: string): Promise<Value | undefined> {
  return kit.session(async connection =>
    singleValue(
      await connection.query(sql`select ${expression} as v from ${kit.table(table)}`, QUERY_OPTIONS),
    ),
  )
}

/** The ids of the fixture's texts that JavaScript finds a pattern in. */
function matching(pattern: RegExp): number[] {
  return TEXTS.flatMap((text, index) => (pattern.test(text) ? [index + 1] : []))
}
