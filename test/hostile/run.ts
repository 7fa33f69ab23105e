/** Runs all attacks and prints what each cost: `npm run test:hostile [-- files]`. */
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { constants } from 'node:os'
import { spawnSync } from 'node:child_process'
import { TABLE_FILE, type AttackCost } from './attack.ts'

const root = join(import.meta.dirname, '../..')
const named = process.argv.slice(2)
const files = named.length > 0 ? named : globSync('test/hostile/*.test.ts', { cwd: root }).sort()

rmSync(TABLE_FILE, { force: true })
const { status, signal } = spawnSync(
  process.execPath,
  [join(root, 'test/run.ts'), '--timeout=1800', '--jobs=1', ...files],
  { cwd: root, stdio: 'inherit' },
)
printTable()
process.exit(signal ? 128 + constants.signals[signal] : (status ?? 1))

function printTable(): void {
  if (!existsSync(TABLE_FILE)) return
  const costs = readFileSync(TABLE_FILE, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as AttackCost)
  const rows = costs
    .sort((a, b) => (a.route < b.route ? -1 : a.route > b.route ? 1 : 0))
    .map(({ route, attack, delayMs, p99Ms }) => [route, attack, format(delayMs), format(p99Ms)])
  const lines = [['route', 'attack', 'loop held, ms', 'p99 of B, ms'], ['---', '---', '--:', '--:'], ...rows]
  for (const cells of lines) console.log(`| ${cells.join(' | ')} |`)
}

function format(ms: number | null): string {
  return ms === null ? '–' : ms.toFixed(0)
}
