/**
 * The numbers of the scan bench by hand: what an engineer writes who wants these numbers and knows nothing of checks.
 * There are two ways to count how often values occur, inline and by statements of their own, and the bench takes the
 * faster one.
 */
import { forEngine, TABLE, type Ask, type EngineName } from './scan-columns.ts'

/** Statements that give one row each. All numbers together are those of the checks, by their positions. */
export interface HandScan {
  way: string
  statements: string[]
}

/** The name of a number in a row, and of the count of all rows. */
export const numberName = (position: number) => `n${position}`
export const TOTAL = 'total'

/** The ways to write them. */
export function writeByHand(asks: readonly Ask[], engine: EngineName): HandScan[] {
  const counts = [`count(*) as ${TOTAL}`]
  const inline: string[] = []
  const own: string[] = []
  for (const [position, { hand }] of asks.entries()) {
    const name = numberName(position)
    if ('aggregate' in hand) counts.push(`${forEngine(hand.aggregate, engine)} as ${name}`)
    else if ('rows' in hand) counts.push(`${countRows(forEngine(hand.rows, engine), engine)} as ${name}`)
    else if ('distinct' in hand) {
      inline.push(`count(distinct ${hand.distinct}) as ${name}`)
      own.push(
        `select count(*) as ${name} from (select distinct ${hand.distinct} from ${TABLE}) d where ${hand.distinct} is not null`,
      )
    } else {
      const repeated = `select coalesce(sum(c), 0) as ${name} from (select count(*) as c from ${TABLE}
        where ${hand.repeated} is not null group by ${hand.repeated} having count(*) > 1) r`
      inline.push(`(${repeated}) as ${name}`)
      own.push(repeated)
    }
  }
  return [
    { way: 'one statement', statements: [`select ${[...counts, ...inline].join(', ')} from ${TABLE}`] },
    { way: 'a statement per grouping', statements: [`select ${counts.join(', ')} from ${TABLE}`, ...own] },
  ]
}

/** One statement per number. */
export function writeSingly(asks: readonly Ask[], engine: EngineName): string[] {
  return asks.flatMap(ask =>
    writeByHand([ask], engine)[1]!.statements.filter((_, index, all) => index === all.length - 1),
  )
}

/** How many rows satisfy a condition, as people write it for the engine. */
function countRows(condition: string, engine: EngineName): string {
  return engine === 'mysql' ? `coalesce(sum(${condition}), 0)` : `count(*) filter (where ${condition})`
}
