/**
 * Takes the product's processes, its database and the network between them down while alerts are raised, and holds
 * what arrived against what was promised. Prints its seed and a table; ends with 1 when a promise was broken.
 *
 * `npm run chaos [-- --short] [--seed N] [--only kills,losses,tarpit,receivers,restarts,soak,…]`
 *
 * The short form plays small scenarios side by side, in some two minutes; the long one takes a quarter of an hour.
 * `soak`, half an hour, is played when it is asked for by name.
 */
import { randomInt } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { randomOf } from '../bench/detector-random.ts'
import { full } from './full.ts'
import { clients } from './clients.ts'
import { kills } from './kills.ts'
import { losses } from './losses.ts'
import type { Tally } from './ledger.ts'
import { poison } from './poison.ts'
import { receivers } from './receivers.ts'
import { restarts } from './restarts.ts'
import { rolling } from './rolling.ts'
import { schema } from './schema.ts'
import { schedule } from './schedule.ts'
import { silences } from './silences.ts'
import { soak } from './soak.ts'
import type { Play } from './stage.ts'
import { tarpit } from './tarpit.ts'
import { zombies } from './zombies.ts'

const SCENARIOS: Record<string, (play: Play) => Promise<Pick<Tally, 'broken' | 'note'> & Partial<Tally>>> = {
  kills,
  losses,
  tarpit,
  receivers,
  restarts,
  zombies,
  silences,
  rolling,
  poison,
  schedule,
  full,
  schema,
  clients,
  soak,
}
/** Played when it is asked for by name. */
const LONG = ['soak']

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
    only: {
      type: 'string',
      default: Object.keys(SCENARIOS)
        .filter(name => !LONG.includes(name))
        .join(','),
    },
  },
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
console.log(`seed ${values.seed}`)
const logs = mkdtempSync(join(tmpdir(), 'tidemark-chaos-'))

/** Plays one; what it throws is a promise broken too. */
async function play(name: string): Promise<[string, Partial<Tally> & Pick<Tally, 'broken'>]> {
  const startedAt = performance.now()
  const scenario = SCENARIOS[name]
  if (!scenario)
    throw new Error(`There is no scenario ${name}: there are ${Object.keys(SCENARIOS).join(', ')}`)
  try {
    const folder = join(logs, name)
    mkdirSync(folder)
    const random = randomOf(`${values.seed} ${name}`)
    const result = await scenario({ random, isShort: values.short, folder })
    return [
      name,
      { ...result, note: `${result.note} ${seconds((performance.now() - startedAt) / 1_000)} s`.trim() },
    ]
  } catch (error) {
    return [name, { broken: [`It could not be played to its end: ${(error as Error).stack}`] }]
  }
}

const names = values.only.split(',')
const results: Awaited<ReturnType<typeof play>>[] = []
if (values.short) results.push(...(await Promise.all(names.map(play))))
else for (const name of names) results.push(await play(name))

const COLUMNS: [string, (tally: Partial<Tally>) => unknown][] = [
  ['deliveries', tally => tally.deliveries],
  ['lost', tally => tally.lost],
  ['duplicates', tally => tally.duplicates],
  ['other bytes', tally => tally.different],
  ['wrong attempts', tally => tally.wrongRows],
  ['overtaken', tally => tally.overtaken],
  ['recovery p50', tally => seconds(quantile(tally.recoveries, 0.5))],
  ['p99', tally => seconds(quantile(tally.recoveries, 0.99))],
  ['max s', tally => seconds(quantile(tally.recoveries, 1))],
  ['RSS MiB', tally => tally.memory],
  ['', tally => tally.note],
]

function quantile(sorted: readonly number[] = [], share: number): number | undefined {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
}

function seconds(value: number | undefined): string | undefined {
  return value?.toFixed(1)
}

const lines = [
  ['scenario', ...COLUMNS.map(([title]) => title)],
  ...results.map(([name, tally]) => [name, ...COLUMNS.map(([, of]) => String(of(tally) ?? '–'))]),
]
const widths = lines[0]!.map((_, column) => Math.max(...lines.map(line => line[column]!.length)))
for (const line of lines) console.log(line.map((cell, column) => cell.padStart(widths[column]!)).join('  '))

const broken = results.flatMap(([name, tally]) => tally.broken.map(sentence => `${name}: ${sentence}`))
if (broken.length === 0) {
  rmSync(logs, { recursive: true })
  process.exit(0)
}
console.error([...broken, `The logs of the servers are in ${logs}`].join('\n'))
process.exit(1)
