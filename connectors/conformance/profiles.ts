import assert from 'node:assert/strict'
import type { Value } from '../connector.ts'
import { sql, type Sql } from '../sql.ts'
import type { ConformanceKit, PromiseGroup } from './kit.ts'

/** What profiles of columns are written with. */
export const profilesGroup: PromiseGroup = {
  name: 'profiles',
  async run(kit) {
    const { dialect } = kit.connector
    const [id, label, digit] = ['id', 'label', 'digit'].map(kit.quote) as [Sql, Sql, Sql]
    await kit.holds('the standard deviation is that of a sample, and NULL below two values', async () => {
      const spread = async (condition: Sql, table: string) =>
        measure(kit, dialect.standardDeviation(id), sql`${kit.table(table)} where ${condition}`)
      const found = Number(await spread(sql`${id} < ${5}`, 'conformance_values'))
      assert.ok(Math.abs(found - 1.2909944487358056) < 1e-12, String(found))
      assert.equal(await spread(sql`${id} = ${1}`, 'conformance_values'), null)
      assert.equal(await spread(sql`${id} > ${0}`, 'conformance_empty'), null)
      const many = Number(await spread(sql`${id} > ${0}`, 'conformance_rows'))
      assert.ok(Math.abs(many - 2886.8956799071675) < 1e-6, String(many))
    })
    await kit.holds('the length of a text is that of its characters', async () => {
      const texts = { ONE: 3, 'žlutý kůň': 9, '': 0 }
      for (const [text, length] of Object.entries(texts)) {
        const found = await kit.value(sql`select ${dialect.textLength(dialect.asText(sql`${text}`))} as v`)
        assert.equal(Number(found), length, text)
      }
      const longest = sql`max(${dialect.textLength(label)})`
      assert.equal(typeof Number(await measure(kit, longest, kit.table('conformance_texts'))), 'number')
    })
    const { approximateDistinct } = dialect
    if (approximateDistinct)
      await kit.holds('about how many values are distinct is near the truth', async () => {
        const rows = kit.table('conformance_rows')
        const near = async (value: Sql, truth: number) => {
          const found = Number(await measure(kit, approximateDistinct(value), rows))
          assert.ok(Math.abs(found - truth) <= truth / 5, `${found} of ${truth}`)
        }
        await near(id, 10_000)
        await near(digit, 10)
      })
    await kit.holds('a sample has about as many rows as it should, all of them of the table', async () => {
      const rows = kit.table('conformance_rows')
      for (const byRow of [true, false]) {
        const half = dialect.sample(rows, { fraction: 0.5, kind: 'table', byRow })
        const [row = {}] = await kit.query(
          sql`select count(*) as n, count(distinct ${id}) as d, min(${id}) as low, max(${id}) as high from ${half}`,
        )
        const [n, d, low, high] = Object.values(row)
        assert.ok(Number(n) <= 10_000)
        assert.equal(Number(n), Number(d))
        // All rows may be in one block.
        assert.ok(!byRow || (Number(n) > 2_000 && Number(n) < 8_000), `${String(n)} rows of 10,000`)
        assert.ok(Number(n) === 0 || (Number(low) >= 1 && Number(high) <= 10_000))
      }
    })
  },
}

/** One measure over what stands in FROM. */
function measure(kit: ConformanceKit, expression: Sql, from: Sql): Promise<Value | undefined> {
  return kit.value(sql`select ${expression} as v from ${from}`)
}
