import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { formatDay, formatHour, formatSpan, formatTime } from '../../lib/format.ts'
import { readHours } from '../../parts/series.ts'
import { Loaded } from '../../parts/states.tsx'
import { Drawing } from './drawing.tsx'
import { gapsBetween, type Gap } from './update-gaps.ts'
import { pageTexts as texts } from './texts.ts'

/** Results of one request: 41 days of an hourly check. */
const RESULTS = 1_000
const HEIGHT = 120
const DAY_MS = 86_400_000
const LABEL_HEIGHT = 16
/** Room that a date on the axis takes, in pixels. */
const TICK_ROOM = 80
const MAX_TICKS = 5

/** A threshold such as `24h` in seconds; null for none, and for another form. */
function toSeconds(threshold: string | null): number | null {
  const hours = readHours(threshold)
  return hours === null ? null : hours * 3_600
}

interface UpdateHistoryProps {
  tableId: string
  /** When the table was checked last: another time has other updates. */
  checkedAt: string | null
  /** After which an update is late, such as `24h`; null while this is learned. */
  threshold: string | null
}

/** The history of a table's updates under its heading. */
export function UpdateHistory(props: UpdateHistoryProps) {
  return (
    <section class="update-history">
      <h2>{texts.history}</h2>
      <UpdateGaps {...props} />
    </section>
  )
}

/** How long a table waited for each of its updates, until now, with the time after which one is late. */
export function UpdateGaps({ tableId, checkedAt, threshold }: UpdateHistoryProps) {
  const asked = useData(`updates of ${tableId} ${checkedAt}`, async signal => {
    const { data } = await api.get('/api/v1/sdk/freshness/{asset_id}/history', {
      path: { asset_id: tableId },
      query: { limit: RESULTS },
      signal,
    })
    return gapsBetween(
      data.data.map(({ last_updated: at }) => at),
      Date.now(),
    )
  })
  return (
    <Loaded of={asked} what={texts.history.toLowerCase()} rows={4}>
      {(gaps: readonly Gap[]) =>
        gaps.length === 0 ? (
          <p class="quiet">{texts.noUpdates}</p>
        ) : (
          <Gaps gaps={gaps} threshold={threshold} />
        )
      }
    </Loaded>
  )
}

function Gaps({ gaps, threshold }: { gaps: readonly Gap[]; threshold: string | null }) {
  const lateAfter = toSeconds(threshold)
  const [first, last] = [gaps[0]!, gaps.at(-1)!]
  const closed = gaps.slice(0, -1).sort((a, b) => a.seconds - b.seconds)
  const [usual, longest] = [closed[Math.floor(closed.length / 2)], closed.at(-1)]
  // A threshold far above all gaps would press them flat; it is named beside the chart then.
  const most = Math.max(longest?.seconds ?? 0, last.seconds)
  const isLimitShown = lateAfter !== null && lateAfter < 4 * most
  const top = Math.max(1, most, isLimitShown ? lateAfter * 1.2 : 0)
  const lateText = threshold && `late after ${threshold}`
  const [from, until] = [first.from, last.until]
  const y = (seconds: number) => HEIGHT * (1 - seconds / top)
  const label = texts.historyOf(gaps.length, formatTime(from), formatTime(last.from), threshold)
  return (
    <>
      <p>
        {[
          ...(usual && longest
            ? [
                texts.usual(usual.seconds),
                texts.longest(longest.seconds, formatTime(longest.until)),
                lateAfter !== null && texts.late(closed.filter(({ seconds }) => seconds > lateAfter).length),
              ]
            : [texts.running(last.seconds)]),
          !isLimitShown && lateText,
        ]
          .filter(Boolean)
          .join(' · ')}
      </p>
      <Drawing height={HEIGHT + LABEL_HEIGHT} label={label}>
        {(width: number) => {
          const x = (at: number) => (width * (at - from)) / Math.max(1, until - from)
          const count = Math.max(2, Math.min(MAX_TICKS, Math.floor(width / TICK_ROOM)))
          const ticks = Array.from({ length: count }, (_, n) => from + ((until - from) * n) / (count - 1))
          const format = until - from < 2 * DAY_MS ? formatHour : formatDay
          const names = ticks.map((at, n) => (n === count - 1 ? 'now' : format(at)))
          return (
            <>
              {gaps.map(gap => {
                const isRunning = gap === last
                const isLate = lateAfter !== null && gap.seconds > lateAfter
                return (
                  <path
                    key={gap.from}
                    class={`gap ${isLate ? 'late' : isRunning ? 'running' : ''}`}
                    d={`M${x(gap.from)} ${HEIGHT}H${x(gap.until)}V${y(gap.seconds)}Z`}
                  >
                    <title>
                      {isRunning ? texts.running(gap.seconds) : texts.gap(gap.seconds, formatTime(gap.until))}
                    </title>
                  </path>
                )
              })}
              {isLimitShown && (
                <>
                  <line class="limit" x1="0" x2={width} y1={y(lateAfter)} y2={y(lateAfter)} />
                  <text x="4" y={Math.max(24, y(lateAfter) - 4)}>
                    {lateText}
                  </text>
                </>
              )}
              <text x="4" y="10">
                {formatSpan(top)}
              </text>
              <line class="axis" x1="0" x2={width} y1={HEIGHT} y2={HEIGHT} />
              {ticks.map((at, n) => (
                <text
                  key={n}
                  x={x(at)}
                  y={HEIGHT + 13}
                  text-anchor={n === 0 ? 'start' : n === count - 1 ? 'end' : 'middle'}
                >
                  {names[n] !== names[n - 1] && names[n]}
                </text>
              ))}
            </>
          )
        }}
      </Drawing>
    </>
  )
}
