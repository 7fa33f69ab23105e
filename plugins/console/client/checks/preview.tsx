import { useRef, useState } from 'preact/hooks'
import { CopyButton } from '../forms/secret.tsx'
import { countOf, formatNumber } from '../lib/format.ts'
import { Status } from '../parts/status.tsx'
import { tuningTexts } from './texts.ts'
import { DifferingRows, type SideNames } from './comparison-result.tsx'
import { isBeyondNow, isRule, type Limit, type RunWithPast } from './past.ts'
import { ExistingNote } from './existing-note.tsx'
import { PastPanel } from './past-panel.tsx'
import type { DryRun } from './requests.ts'

const LOOKBACKS = [7, 30, 90]

/** What a form gives to a dry run. */
export interface PreviewInput {
  /** What is measured; another one makes a result out of date. */
  key: string
  /** What the result is judged by, which needs no further measurement. */
  limit: Limit | null
  /** Columns to choose from, where the form makes several checks. */
  columns: readonly string[]
  /** What the two tables of a comparison are called. */
  sides?: SideNames
  /** The check that the form changes: it is no other one. */
  ownId?: string
  /** Whether it is about buckets of time. */
  hasWindow: boolean
  /** Measures what the form holds. @returns undefined if a field is wrong, which the form then shows */
  measure(lookbackDays: number, column: string | undefined): Promise<DryRun | undefined>
  setLimit(limit: Limit): void
}

interface Result {
  key: string
  run: DryRun
  at: number
  /** What the value is that was measured now. */
  newest: string
}

/** The dry run beside a form. It asks the source when a person asks for it, never as they type. */
export function Preview({ input }: { input: PreviewInput }) {
  const [days, setDays] = useState(30)
  const [column, setColumn] = useState('')
  const [result, setResult] = useState<Result>()
  const [isBusy, setBusy] = useState(false)
  const round = useRef(0)
  const chosen = input.columns.includes(column) ? column : input.columns[0]
  const key = JSON.stringify([input.key, days, chosen])
  const run = async () => {
    const mine = ++round.current
    setBusy(true)
    const found = await input.measure(days, chosen)
    // A person may have left this form for that of another type.
    if (mine !== round.current) return
    setBusy(false)
    const newest = input.hasWindow ? tuningTexts.newestBucket : tuningTexts.now
    if (found) setResult({ key, run: found, at: Date.now(), newest })
  }
  return (
    <section class="side preview" aria-label={tuningTexts.dryRun}>
      <h2>{tuningTexts.dryRun}</h2>
      <p class="quiet">
        {input.sides
          ? 'It reads both tables and stores nothing.'
          : 'It asks the source once and stores nothing.'}
      </p>
      <div class="preview-controls">
        {input.columns.length > 1 && (
          <label>
            Column to try
            <select
              value={chosen}
              onChange={(event: Event) => setColumn((event.target as HTMLSelectElement).value)}
            >
              {input.columns.map(name => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
        {input.limit && (
          <label>
            Look back
            <select
              value={String(days)}
              onChange={(event: Event) => setDays(Number((event.target as HTMLSelectElement).value))}
            >
              {LOOKBACKS.map(count => (
                <option key={count} value={count}>
                  {countOf(count, 'day')}
                </option>
              ))}
            </select>
          </label>
        )}
        <button type="button" disabled={isBusy} onClick={() => void run()}>
          {isBusy ? 'Asking the source…' : result ? 'Try again' : 'Try it'}
        </button>
      </div>
      <div aria-live="polite">
        {result && result.key !== key && (
          <p class="stale">The form has changed since. Try it again to see what it means.</p>
        )}
        {result && <Outcome result={result} input={input} />}
      </div>
    </section>
  )
}

function Outcome({ result: { run, at, newest }, input }: { result: Result; input: PreviewInput }) {
  const { limit } = input
  const { existing } = run
  const isTwin = existing !== null && existing.id !== input.ownId
  // The first names the equal check, which has a line of its own.
  const warnings = (run.warnings ?? []).slice(existing ? 1 : 0)
  return (
    <>
      <dl class="now">
        <dt>{newest}</dt>
        <dd>
          {describeNow(run)} <Verdict run={run} limit={limit} />
        </dd>
      </dl>
      {!limit && (
        <p>
          <strong>{run.outlook.message}</strong>
        </p>
      )}
      {isTwin && (
        <div class="warning">
          <strong>{tuningTexts.exists}</strong>
          <ExistingNote check={existing} />
        </div>
      )}
      <Cost run={run} />
      {run.error_message && <p class="bad">{run.error_message}</p>}
      {warnings.map(warning => (
        <p key={warning} class="warning">
          {warning}
        </p>
      ))}
      {limit && 'history' in run && (
        <PastPanel run={run} at={at} newest={newest} limit={limit} setLimit={input.setLimit} />
      )}
      {'differing_rows' in run && <DifferingRows found={run} names={input.sides} />}
      {run.sql.length > 0 && <Statements run={run} />}
    </>
  )
}

/** What it would read, where the source was asked. */
function Cost({ run }: { run: DryRun }) {
  const cost = 'cost' in run ? run.cost : null
  if (!cost) return null
  return (
    <>
      <dl class="cost">
        <dt>{tuningTexts.cost}</dt>
        <dd>{cost.message}</dd>
      </dl>
      {cost.notes.map(note => (
        <p key={note} class="quiet">
          {note}
        </p>
      ))}
    </>
  )
}

function describeNow(run: DryRun): string {
  if (run.status === 'error' || run.status === 'ERROR') return ''
  if ('differing_rows' in run) return run.message ?? ''
  if ('orphan_count' in run)
    return [
      `${countOf(run.orphan_count, 'row')} of ${run.total_child_rows.toLocaleString('en-GB')} without a parent`,
      run.parents_below_min
        ? `${countOf(run.parents_below_min, 'parent has', 'parents have')} too few rows`
        : '',
      run.parents_above_max
        ? `${countOf(run.parents_above_max, 'parent has', 'parents have')} too many rows`
        : '',
    ]
      .filter(Boolean)
      .join(', ')
  if (isRule(run))
    return `${formatNumber(run.invalid_percent)} % invalid (${run.invalid_count.toLocaleString('en-GB')} of ${countOf(run.total_rows, 'row')})`
  if (run.groups)
    return `${countOf(run.groups.length, 'group')}, ${run.groups.filter(group => group.is_anomaly).length} unusual`
  return run.value === null ? 'no value' : formatNumber(run.value)
}

/** How the value of now would be judged by the limit that the form has now. */
function Verdict({ run, limit }: { run: DryRun; limit: Limit | null }) {
  if (run.status === 'error' || run.status === 'ERROR') return <Status status="error" />
  if ('orphan_count' in run || 'differing_rows' in run || !limit || ('groups' in run && run.groups))
    return <Word isFailing={/fail/i.test(run.status)} />
  const ofPast = run as RunWithPast
  if ('breach' in ofPast && ofPast.breach) return <Word isFailing />
  if ('sensitivity' in limit && ofPast.learning)
    return <Status status="learning" word={tuningTexts.isLearning} />
  const isFailing = isBeyondNow(ofPast, limit)
  return isFailing === undefined ? null : <Word isFailing={isFailing} />
}

function Word({ isFailing }: { isFailing: boolean }) {
  return <Status status={isFailing ? 'fail' : 'pass'} word={isFailing ? 'would fail' : 'would pass'} />
}

function Statements({ run }: { run: DryRun }) {
  const text = run.sql.map(statement => statement.text).join(';\n\n')
  const values = run.sql.flatMap(statement => statement.values as unknown[])
  return (
    <details class="sql" open>
      <summary>{tuningTexts.sql}</summary>
      <pre tabindex={0} role="region" aria-label={tuningTexts.sql}>
        <code>{text}</code>
      </pre>
      {values.length > 0 && (
        <p class="quiet">
          {tuningTexts.values}:{' '}
          <code>
            {values
              .map(value => (typeof value === 'number' ? formatNumber(value) : JSON.stringify(value)))
              .join(', ')}
          </code>
        </p>
      )}
      <CopyButton text={text} label="Copy SQL" />
    </details>
  )
}
