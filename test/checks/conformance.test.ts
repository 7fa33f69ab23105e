import t from 'tap'
import Joi from 'joi'
import type { AggregateMetric, CheckType, RowRule } from '../../checks/check.ts'
import { testCheck, type CheckCase } from '../../checks/conformance.ts'
import { metrics } from '../../checks/metrics/index.ts'
import { rules } from '../../checks/rules/index.ts'
import { raw, sql } from '../../connectors/sql.ts'
import { edgeCases } from './edge-cases.ts'

t.test('every built-in check conforms in the engine of the kit', async t => {
  for (const check of [...rules, ...metrics]) {
    // The engine of the kit parses no dates.
    const cases = (edgeCases[check.name] ?? []).filter(
      ({ expect }) => !check.needs?.includes('dateParsing') || 'refused' in expect,
    )
    await testCheck(t, { check, cases })
  }
})

const even: RowRule = {
  family: 'rule',
  name: 'EVEN',
  description: 'Values are even.',
  config: Joi.object({}),
  column: 'required',
  valid: ({ column }) => sql`${column} % 2 = 0`,
}

const longest: AggregateMetric<{ prefix: string }> = {
  family: 'metric',
  name: 'longest',
  description: 'The length of the longest text with a prefix.',
  config: Joi.object({ prefix: Joi.string().required() }),
  column: 'required',
  measure: ({ column, config }) =>
    sql`max(case when substr(${column}, 1, length(${config.prefix})) = ${config.prefix} then length(${column}) end)`,
}

/** The names of the subtests that fail, with their messages. */
async function failures<Config>(
  check: CheckType<Config>,
  cases: CheckCase[],
): Promise<Record<string, string>> {
  const failed: Record<string, string> = {}
  const recorder = {
    async test(name: string, run: () => Promise<void>) {
      try {
        await run()
      } catch (error) {
        failed[name] = (error as Error).message
      }
    },
  }
  await testCheck(recorder, { check, cases })
  return failed
}

t.test('a check that keeps its promises passes', async t => {
  const evens: CheckCase[] = [
    { name: 'odd ones', kind: 'integer', values: [1, 2, 3, null], expect: { invalid: 3 } },
    { name: 'NULLs skipped', kind: 'integer', values: [1, null], nullIsValid: true, expect: { invalid: 1 } },
  ]
  t.strictSame(await failures(even, evens), {})
  const prefixes: CheckCase[] = [
    {
      name: 'the longest',
      values: ["it's", 'itself', 'others'],
      config: { prefix: 'it' },
      expect: { value: 6 },
    },
    { name: 'a quote', values: ["it's"], config: { prefix: "it'" }, expect: { value: 4 } },
    { name: 'none', values: ['a'], config: { prefix: 'it' }, expect: { value: null } },
    { name: 'no prefix', values: [], expect: { refused: /prefix/ } },
  ]
  t.strictSame(await failures(longest, prefixes), {})
})

t.test('a check that breaks them fails by name', async t => {
  const integers = { name: 'x', kind: 'integer', values: [1, 2], expect: { invalid: 1 } } as const
  const says = async (check: CheckType, item: CheckCase, message: RegExp) => {
    t.match(Object.values(await failures(check, [item])), [message], String(message))
  }
  await says(
    { ...even, valid: ({ column }) => sql`${column} % 2 = 1 or true` },
    integers,
    /strictly deep-equal|deepEqual|equal/i,
  )
  await says({ ...even, description: 'even' }, integers, /a sentence/)
  await says({ ...even, name: 'not a name' }, integers, /a word/)
  await says({ ...even, measure: () => sql`1` } as CheckType, integers, /one of valid, measure and measures/)
  await says({ ...even, valid: () => raw('no sql at all') }, integers, /syntax error/)
  await says({ ...even, config: Joi.object({ a: Joi.any().required() }) }, integers, /the config is accepted/)
  await says(even, { ...integers, expect: { refused: /x/ } }, /accepted/)
  const spliced: AggregateMetric<{ prefix: string }> = {
    ...longest,
    measure: ({ column, config }) => sql`max(case when ${column} = ${raw(`'${config.prefix}'`)} then 1 end)`,
  }
  t.match(
    Object.values(
      await failures(spliced, [
        { name: 'x', values: ['abc'], config: { prefix: 'abc' }, expect: { value: 1 } },
      ]),
    ),
    [/abc is bound/],
  )
})
