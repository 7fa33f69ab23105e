/** What the reply of a dry run says of the cost of a check. */
import type { CostEstimate } from '../../../connectors/connector.ts'
import { formatBytes } from '../../../server/bytes.ts'
import { exampleRecord, held } from '../../../server/http/envelopes.ts'
import type { CheckCost } from '../types.ts'

const { count, integer, number, text, texts } = held

const formReply = exampleRecord({
  rows: integer.allow(null).description('Rows that one run reads.').example(60_000),
  bytes: integer.allow(null).description('Bytes that one run reads.').example(7_200_000),
  rows_per_month: integer.allow(null).example(1_800_000),
  bytes_per_month: integer.allow(null).example(216_000_000),
})

/** The cost of a check in the reply of a dry run. */
export const costReply = exampleRecord({
  runs_per_month: number.description('Runs in 30 days, by its interval.').example(30),
  whole_table: formReply.description('Without a window, as the engine estimates; null is unknown.'),
  window: formReply
    .allow(null)
    .description(
      'With its window: the newest bucket and those that are measured again; null without a window.',
    ),
  saving: number
    .min(0)
    .max(1)
    .allow(null)
    .description('The share that the window saves of the bytes, else of the rows; null without a window.')
    .example(0.97),
  shared_with: count
    .description('Active checks of the table that the same statement measures when they are due together.')
    .example(12),
  message: text.example(
    'A run reads about 60,000 rows (7.2 MB), a month of 30 runs 1,800,000 rows (216 MB). The window saves 97 %: without it, a run would read 2,000,000 rows (240 MB).',
  ),
  notes: texts.description('What else there is to know of it, sentences.').example([]),
})
  .allow(null)
  .label('CheckCost')
  .description('What it would read; null where the source was not asked.')

/** The cost of a check as replies show it; null where it is not known at all. */
export function presentCost(cost: CheckCost | null) {
  if (!cost) return null
  const { wholeTable, window, runsPerMonth, sharedWith } = cost
  return {
    runs_per_month: Math.round(runsPerMonth * 10) / 10,
    whole_table: presentForm(wholeTable, runsPerMonth),
    window: window && presentForm(window, runsPerMonth),
    saving: window && savingOf(wholeTable, window),
    shared_with: sharedWith,
    message: describeCost(cost),
    notes: notesOf(cost),
  }
}

function presentForm({ rows, bytes }: CostEstimate, runs: number) {
  const monthly = (perRun: number | null) => (perRun === null ? null : Math.round(perRun * runs))
  return { rows, bytes, rows_per_month: monthly(rows), bytes_per_month: monthly(bytes) }
}

/** The share of the whole that is not read; by bytes, which are paid for, where they are known. */
function savingOf(whole: CostEstimate, window: CostEstimate): number | null {
  const shareOf = (all: number | null, part: number | null) =>
    all === null || part === null || all === 0
      ? null
      : Math.max(0, Math.round((1 - part / all) * 1_000) / 1_000)
  return shareOf(whole.bytes, window.bytes) ?? shareOf(whole.rows, window.rows)
}

/** What a run and a month read, and what the window saves of that. */
function describeCost({ wholeTable, window, runsPerMonth: runs, timeColumn }: CheckCost): string {
  const read = window ?? wholeTable
  const amount = describeAmount(read, 1)
  if (amount === null) return 'What a run reads is unknown: the engine does not say.'
  const runCount = Math.round(runs).toLocaleString('en')
  const reading = `A run reads about ${amount}, a month of ${runCount} runs ${describeAmount(read, runs)}.`
  const saving = window && savingOf(wholeTable, window)
  if (saving === null) return reading
  return saving > 0
    ? `${reading} The window saves ${Math.round(saving * 100)} %: without it, a run would read ${describeAmount(wholeTable, 1)}.`
    : `${reading} The window saves nothing: the engine plans to read the whole table all the same. Partitions by ${timeColumn}, or an index on it if the table is large, would spare that.`
}

const UNPLANNED_SQL = {
  expression: 'SQL of yours is not planned, and left out of the estimate.',
  select: 'A SELECT of yours is not planned: the estimate takes it for one reading of the whole table.',
}

/** What else there is to know of it, sentences. */
function notesOf({ unplannedSql, sharedWith }: CheckCost): string[] {
  const others = sharedWith === 1 ? 'One active check' : `${sharedWith.toLocaleString('en')} active checks`
  return [
    ...(unplannedSql ? [UNPLANNED_SQL[unplannedSql]] : []),
    ...(sharedWith > 0
      ? [
          `${others} of this table can be measured by the same statement: due together, this one adds almost nothing, at most its own columns where columns are stored apart.`,
        ]
      : []),
  ]
}

function describeAmount({ rows, bytes }: CostEstimate, runs: number): string | null {
  const rowCount = rows === null ? null : `${Math.round(rows * runs).toLocaleString('en')} rows`
  const size = bytes === null ? null : formatBytes(bytes * runs)
  if (rowCount === null || size === null) return rowCount ?? size
  return `${rowCount} (${size})`
}
