/** Attacks of company A, and what they cost company B: one row of a table each, which `npm run test:hostile` prints. */
import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Tenant } from '../helpers/server.ts'
import { longestDelay } from './event-loop.ts'

export interface AttackCost {
  route: string
  attack: string
  /** Milliseconds for which the event loop was held at the longest; null where the attack runs in another process. */
  delayMs: number | null
  /** Milliseconds within which 99 of 100 requests of B were answered meanwhile; null where B asked nothing. */
  p99Ms: number | null
}

const FOLDER = join(import.meta.dirname, '../../.tap')
export const TABLE_FILE = join(FOLDER, 'hostile.jsonl')

/** Milliseconds within which B is answered. */
export const MAX_P99_MS = 2_000

/** Adds a row to the table. */
export function recordCost(t: Pick<Test, 'comment'>, cost: AttackCost): void {
  const show = (ms: number | null) => (ms === null ? '–' : `${ms.toFixed(0)} ms`)
  t.comment(`${cost.route}, ${cost.attack}: loop ${show(cost.delayMs)}, p99 of B ${show(cost.p99Ms)}`)
  mkdirSync(FOLDER, { recursive: true })
  appendFileSync(TABLE_FILE, `${JSON.stringify(cost)}\n`)
}

/**
 * Does what A does while B lists its sources again and again, and records both figures.
 * @returns the figures; the caller decides which are too large
 */
export async function attack(
  t: Test,
  {
    route,
    attack: name,
    bystander,
    work,
  }: Pick<AttackCost, 'route' | 'attack'> & { bystander: Tenant; work(): Promise<unknown> },
): Promise<{ delayMs: number; p99Ms: number }> {
  const taken: number[] = []
  let isOver = false
  const ask = async () => {
    do {
      const began = performance.now()
      const { status } = await bystander.ask('GET', '/api/v1/sdk/assets?limit=1')
      taken.push(performance.now() - began)
      if (status !== 200) t.fail(`B is answered ${status} while A attacks ${route}`)
    } while (!isOver)
  }
  const delayMs = await longestDelay(async () => {
    const asking = ask()
    try {
      await work()
    } finally {
      isOver = true
      await asking
    }
  })
  const p99Ms = percentile(taken, 0.99)
  recordCost(t, { route, attack: name, delayMs, p99Ms })
  return { delayMs, p99Ms }
}

/** The smallest of the values that a share of them does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
}
