import assert from 'node:assert/strict'
import type { Row } from '../connector.ts'
import { join, raw, sql } from '../sql.ts'
import { momentsOf } from './fixture.ts'
import { type ConformanceKit, type PromiseGroup } from './kit.ts'

/** Seconds of a day and of a week. */
const PERIODS = [86_400, 604_800]

const TYPES = ['date', 'timestamp', 'timestamptz'] as const

/** `dialect.seconds`, held to the dates and times that arrive. */
export const secondsGroup: PromiseGroup = {
  name: 'seconds',
  async run(kit) {
    const has = momentsOf(kit.fixture)
    for (const type of TYPES) {
      const reason = has[type] ? undefined : `${kit.connector.label} has no such type`
      await kit.holdsUnless(reason, `${type}: whole seconds since 1970 in UTC, rounded down`, async () => {
        const rows = await readSeconds(kit, type)
        const given = has[type] ?? []
        assert.equal(rows.filter(({ value }) => value !== null).length, given.length)
        for (const { value, seconds } of rows) {
          assert.equal(seconds === null ? null : Number(seconds), secondsOf(value), String(value))
        }
        const hasSample = rows.some(({ value }) => secondsOf(value) === EXPECTED[type])
        assert.ok(hasSample, 'the sample is that moment')
      })
      await kit.holdsUnless(reason, `${type}: mod() puts them into periods`, async () => {
        for (const row of await readSeconds(kit, type)) {
          const seconds = secondsOf(row.value)
          if (seconds === null || seconds < 0) continue
          for (const [index, period] of PERIODS.entries())
            assert.equal(Number(row[`p${index}`]), seconds - (seconds % period), String(row.value))
        }
      })
    }
    await kit.holds('they are NULL of NULL', async () => {
      const [type] = TYPES.filter(name => has[name])
      if (!type) return
      const seconds = kit.connector.dialect.epochSeconds(kit.quote(`${type}_value`))
      const second = sql`${kit.table('conformance_types')} where ${kit.quote('id')} = ${2}`
      assert.equal(await kit.value(sql`select ${seconds} as s from ${second}`), null)
    })
  },
}

/** One moment of each type as it should be. */
const EXPECTED = {
  date: Date.UTC(2024, 1, 29) / 1000,
  timestamp: Date.UTC(2024, 1, 29, 12, 34, 56) / 1000,
  timestamptz: Date.UTC(2024, 1, 29, 12, 34, 56) / 1000,
}

/** Every moment of a type with its seconds, and those at which its periods begin. */
function readSeconds(kit: ConformanceKit, type: (typeof TYPES)[number]): Promise<Row[]> {
  const column = kit.quote(`${type}_value`)
  const seconds = kit.connector.dialect.epochSeconds(column)
  const periods = PERIODS.map(
    (period, index) => sql`${seconds} - mod(${seconds}, ${raw(String(period))}) as ${kit.quote(`p${index}`)}`,
  )
  const outputs = [sql`${column} as ${kit.quote('value')}`, sql`${seconds} as ${kit.quote('seconds')}`]
  const select = sql`select ${join([...outputs, ...periods])} from ${kit.table('conformance_moments')} order by ${kit.quote('id')}`
  return kit.query(select)
}

/** What a value that arrived comes to: a Date, or a date as its text. */
function secondsOf(value: unknown): number | null {
  if (value === null) return null
  const milliseconds = value instanceof Date ? value.getTime() : Date.parse(`${String(value)}T00:00:00Z`)
  return Math.floor(milliseconds / 1000)
}
