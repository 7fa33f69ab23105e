import type { CheckType } from '../check.ts'
import { metrics } from '../metrics/index.ts'
import { rules } from '../rules/index.ts'
import { whyUnsupported as lackingColumn, type CheckCase } from './case.ts'
import { edgeCases } from './built-in-cases.ts'
import { assertShape, runCase } from './run-case.ts'
import type { TestDatabase } from './test-database.ts'

/** The part of a test that `testBuiltIns` uses; fits tap and node:test. */
export interface BuiltInTest {
  test(name: string, options: { skip?: string }, run: () => Promise<void>): unknown
}

export interface BuiltInTestOptions {
  database: TestDatabase
  /** Cases by check name, for values that only this engine's columns can hold. */
  extraCases?: Readonly<Record<string, readonly CheckCase[]>>
  /** Reasons by name: a whole check (`'REGEX'`) or one case (`'REGEX: case matters'`). */
  skip?: Readonly<Record<string, string>>
}

/** The skipped checks and cases, each with its reason. */
export type SkippedCases = { name: string; reason: string }[]

const BUILT_INS: readonly CheckType[] = [...rules, ...metrics]

/**
 * Tests that every built-in rule and metric gives the same numbers on an engine, in subtests of `t`. Skips a check whose
 * capability the engine does not claim, a case whose column the engine cannot have (both are in the result), and a case
 * of a trait that the database does not list (which is in the test's report only).
 * @throws Error for a check or case that does not exist, and for a skip without a reason
 */
export async function testBuiltIns(
  t: BuiltInTest,
  { database: on, extraCases: more = {}, skip = {} }: BuiltInTestOptions,
): Promise<SkippedCases> {
  const all = BUILT_INS.map(check => ({
    check,
    cases: [...(edgeCases[check.name] ?? []), ...(more[check.name] ?? [])],
  }))
  const names = all.flatMap(({ check, cases }) => [check.name, ...cases.map(item => nameOf(check, item))])
  refuseUnknown(Object.keys(more), Object.keys(skip), names)
  for (const [name, reason] of Object.entries(skip)) {
    if (reason.trim() === '') throw new Error(`Skipping ${JSON.stringify(name)} needs a reason`)
  }

  const skipped: SkippedCases = []
  const run = async (name: string, reason: string | undefined, hold: () => Promise<void>) => {
    if (reason !== undefined) skipped.push({ name, reason })
    await t.test(name, reason === undefined ? {} : { skip: reason }, hold)
  }
  for (const { check, cases } of all) {
    const left = skip[check.name] ?? whySkipped(check, on)
    await run(check.name, left, async () => assertShape(check))
    if (left !== undefined) continue
    for (const item of cases) {
      const name = nameOf(check, item)
      const reason = skip[name] ?? lackingColumn(item, on) ?? undefined
      const untold = reason === undefined ? whyTraitUnknown(item, on) : undefined
      if (untold === undefined) await run(name, reason, () => runCase(check, item, on))
      else await t.test(name, { skip: untold }, async () => {})
    }
  }
  return skipped
}

const nameOf = (check: CheckType, item: CheckCase) => `${check.name}: ${item.name}`

function whySkipped(check: CheckType, { engine }: TestDatabase): string | undefined {
  const missing = check.needs?.filter(capability => !engine.capabilities[capability]) ?? []
  return missing.length > 0 ? `${engine.name} claims no ${missing.join(' and no ')}` : undefined
}

function whyTraitUnknown({ trait, type }: CheckCase, { traits = {} }: TestDatabase): string | undefined {
  if (trait === undefined || type !== undefined || traits[trait] !== undefined) return undefined
  return `the test database lists no column for the trait ${trait}`
}

function refuseUnknown(checks: string[], skips: string[], names: string[]): void {
  const known = BUILT_INS.map(({ name }) => name)
  for (const name of checks) {
    if (!known.includes(name))
      throw new Error(`No check ${JSON.stringify(name)}; there are ${known.join(', ')}`)
  }
  for (const name of skips) {
    if (names.includes(name)) continue
    const [check = ''] = name.split(':')
    const near = names.filter(each => each.startsWith(`${check}:`))
    const others = near.length > 0 ? near : known
    throw new Error(
      `No case ${JSON.stringify(name)}; there are ${others.map(each => JSON.stringify(each)).join(', ')}`,
    )
  }
}
