import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Ring } from './rings.ts'

const FILE = 'test/cpu-budget.json'

/**
 * Compares the CPU seconds of a whole run with its budget, so that no single slow file fails it. The same tests take up to
 * twice as much on a machine that others share, which the budget allows for.
 * @returns what is wrong, null when nothing is or nothing could be measured
 */
export function checkBudget(root: string, ring: Ring, cpuSeconds: number): string | null {
  const budgets = JSON.parse(readFileSync(join(root, FILE), 'utf8')) as Record<Ring, number>
  if (!(cpuSeconds > budgets[ring])) return null
  return `the run used ${cpuSeconds.toFixed(0)} s of CPU, its budget is ${budgets[ring]} s (${FILE})`
}
