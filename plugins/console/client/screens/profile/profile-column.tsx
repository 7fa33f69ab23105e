import type { ComponentChildren } from 'preact'
import type { ColumnProfile, ProfileChange, TableProfileData } from 'tidemark/client'
import { formatNumber, formatTime } from '../../lib/format.ts'
import { profileTexts as texts } from './texts.ts'

/** Values and changes that are shown at once; the others open. */
const MAX_SHOWN = 3

/** What has changed since the profile that another one is compared with. */
export type ProfileComparison = NonNullable<TableProfileData['data']['comparison']>

export const changesOf = ({ changes }: ProfileComparison, name: string): ProfileChange[] =>
  changes.filter(({ column }) => column === name)

/** What an opened column holds, in words. */
export function ColumnDetails({
  profile,
  isNullable,
  description,
}: {
  profile?: ColumnProfile
  isNullable?: boolean
  description?: string | null
}) {
  const facts: [string, ComponentChildren][] = [
    ['Description', description && <bdi>{description}</bdi>],
    ['Nullable', isNullable !== undefined && (isNullable ? 'yes' : 'no')],
    ['Range', profile && <Range column={profile} />],
    ['Frequent values', profile?.top_values?.length && <Frequent column={profile} />],
    [
      'Pattern',
      profile?.pattern &&
        `${texts.patterns[profile.pattern.name]}${profile.pattern.share < 1 ? ` ${texts.percent(100 * profile.pattern.share)}` : ''}`,
    ],
  ]
  return (
    <dl class="facts">
      {facts.map(
        ([label, value]) =>
          value && (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

function Range({ column }: { column: ColumnProfile }) {
  const { min, max, quantiles } = column
  if (min !== null && max !== null)
    return (
      <>
        <bdi>{min === max ? show(min, column) : `${show(min, column)} to ${show(max, column)}`}</bdi>
        {quantiles && <QuantileBar {...quantiles} />}
      </>
    )
  const { min_length: shortest, max_length: longest } = column
  return shortest === null || longest === null ? null : texts.characters(shortest, longest)
}

/** A date as it is, a moment in the zone of the reader, a number in digits. */
function show(value: number | string, { kind }: ColumnProfile): string {
  if (typeof value === 'number') return formatNumber(value)
  return kind === 'timestamp' ? formatTime(value) : value
}

const WIDTH = 120
const HEIGHT = 12

/** Where 90 % of the values lie: the box is the middle half, the tick the median. The extremes stand beside it in words. */
function QuantileBar({ p05, p25, p50, p75, p95 }: NonNullable<ColumnProfile['quantiles']>) {
  const x = (value: number) => (p95 === p05 ? WIDTH / 2 : 1 + ((value - p05) / (p95 - p05)) * (WIDTH - 2))
  const title = `90 % of the values are from ${formatNumber(p05)} to ${formatNumber(p95)}, ${texts.median(p50)}`
  return (
    <span class="quantiles">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={title}>
        <title>{title}</title>
        <line x1="1" x2={WIDTH - 1} y1={HEIGHT / 2} y2={HEIGHT / 2} />
        <rect x={x(p25)} width={Math.max(x(p75) - x(p25), 1)} y="2" height={HEIGHT - 4} />
        <line class="median" x1={x(p50)} x2={x(p50)} y1="0" y2={HEIGHT} />
      </svg>
      <span class="quiet">{texts.median(p50)}</span>
    </span>
  )
}

function Frequent({ column }: { column: ColumnProfile }) {
  const { top_values: values, count } = column
  if (!values || values.length === 0) return null
  const items = values.map(({ value, count: rows }, n) => (
    <li key={n}>
      <bdi>{value === '' ? '""' : String(value)}</bdi>{' '}
      <span class="quiet">{texts.percent(Math.round((1_000 * rows) / (count || 1)) / 10)}</span>
    </li>
  ))
  return <Some items={items} />
}

/** What changed of a column since the profile that is compared with. */
export function Changes({ changes }: { changes: readonly ProfileChange[] }) {
  const items = changes.flatMap(describeChange).map(text => (
    <li key={text}>
      <bdi>{text}</bdi>
    </li>
  ))
  return items.length === 0 ? <span class="quiet">–</span> : <Some items={items} />
}

/** What a change says; none where only the order of frequent values changed. */
export function describeChange({ field, before, after }: ProfileChange): string[] {
  const name = texts.fields[field]
  if (name === undefined) return []
  if (Array.isArray(before) && Array.isArray(after)) {
    const added = after.filter(value => !before.includes(value))
    const gone = before.filter(value => !after.includes(value))
    return [
      ...(added.length > 0 ? [`new values: ${added.map(String).join(', ')}`] : []),
      ...(gone.length > 0 ? [`gone values: ${gone.map(String).join(', ')}`] : []),
    ]
  }
  const show = field === 'null_percent' ? showPercent : showChange
  return [`${name} ${show(before)} → ${show(after)}`]
}

const showPercent = (value: ProfileChange['before']) =>
  typeof value === 'number' ? texts.percent(value) : showChange(value)

function showChange(value: ProfileChange['before']): string {
  if (value === null) return '–'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return formatNumber(value)
  return Array.isArray(value) ? value.join(', ') : String(value)
}

/** A list of which the first ones are shown, and the rest on demand. */
function Some({ items }: { items: unknown[] }) {
  return (
    <>
      <ul class="plain">{items.slice(0, MAX_SHOWN)}</ul>
      {items.length > MAX_SHOWN && (
        <details>
          <summary>{texts.more(items.length - MAX_SHOWN)}</summary>
          <ul class="plain">{items.slice(MAX_SHOWN)}</ul>
        </details>
      )}
    </>
  )
}
