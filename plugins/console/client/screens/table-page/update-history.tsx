import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { formatDay, formatSpan, formatTime } from '../../lib/format.ts'
import { readHours } from '../../parts/series.ts'
import { Loaded } from '../../parts/states.tsx'
import { gapsBetween, type Gap } from './update-gaps.ts'
import { pageTexts as texts } from './texts.ts'

/** Results of one request: 41 days of an hourly check. */
const RESULTS = 1_000
const WIDTH = 720
const HEIGHT = 120
const LABEL_HEIGHT = 16
const TICKS = 5

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

/** How long a table waited for each of its updates, until now, with the time after which one is late. */
export function UpdateHistory({ tableId, checkedAt, threshold }: UpdateHistoryProps) {
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
    <section class="update-history">
      <h2>{texts.history}</h2>
      <Loaded of={asked} what={texts.history.toLowerCase()} rows={4}>
        {(gaps: readonly Gap[]) =>
          gaps.length < 2 ? <p class="quiet">{texts.tooFew}</p> : <Gaps gaps={gaps} threshold={threshold} />
        }
      </Loaded>
    </section>
  )
}

function Gaps({ gaps, threshold }: { gaps: readonly Gap[]; threshold: string | null }) {
  const lateAfter = toSeconds(threshold)
  const [first, last] = [gaps[0]!, gaps.at(-1)!]
  const closed = gaps.slice(0, -1)
  const sorted = closed.map(({ seconds }) => seconds).sort((a, b) => a - b)
  const usual = sorted[Math.floor(sorted.length / 2)]!
  const longest = closed.reduce((most, gap) => (gap.seconds > most.seconds ? gap : most))
  const late = lateAfter === null ? [] : closed.filter(({ seconds }) => seconds > lateAfter)
  // A threshold far above all gaps would press them flat; it is named beside the chart then.
  const most = Math.max(longest.seconds, last.seconds)
  const isLimitShown = lateAfter !== null && lateAfter < 4 * most
  const top = Math.max(most, isLimitShown ? lateAfter * 1.2 : 0)
  const [from, until] = [first.from, last.until]
  const x = (at: number) => (WIDTH * (at - from)) / (until - from)
  const y = (seconds: number) => HEIGHT * (1 - seconds / top)
  const ticks = Array.from({ length: TICKS }, (_, n) => from + ((until - from) * n) / (TICKS - 1))
  const label = texts.historyOf(gaps.length, formatTime(from), formatTime(last.from), threshold)
  return (
    <>
      <p>
        {[
          texts.usual(usual),
          texts.longest(longest.seconds, formatTime(longest.until)),
          lateAfter !== null && texts.late(late.length),
          threshold && `late after ${threshold}`,
        ]
          .filter(Boolean)
          .join(' · ')}
      </p>
      <div class="scroll" tabindex={0} role="region" aria-label={texts.history}>
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT + LABEL_HEIGHT}`} role="img" aria-label={label}>
          {gaps.map(gap => {
            const isRunning = gap === last
            const isLate = lateAfter !== null && gap.seconds > lateAfter
            return (
              <rect
                key={gap.from}
                class={isLate ? 'late' : isRunning ? 'running' : ''}
                x={x(gap.from)}
                y={y(gap.seconds)}
                width={Math.max(1, x(gap.until) - x(gap.from) - 0.5)}
                height={HEIGHT - y(gap.seconds)}
              >
                <title>
                  {isRunning ? texts.running(gap.seconds) : texts.gap(gap.seconds, formatTime(gap.until))}
                </title>
              </rect>
            )
          })}
          {isLimitShown && (
            <>
              <line class="limit" x1="0" x2={WIDTH} y1={y(lateAfter)} y2={y(lateAfter)} />
              <text x="4" y={Math.max(10, y(lateAfter) - 4)}>
                late after {threshold ?? formatSpan(lateAfter)}
              </text>
            </>
          )}
          <text x="4" y="10">
            {formatSpan(top)}
          </text>
          <line class="axis" x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
          {ticks.map((at, n) => (
            <text
              key={n}
              x={x(at)}
              y={HEIGHT + 13}
              text-anchor={n === 0 ? 'start' : n === TICKS - 1 ? 'end' : 'middle'}
            >
              {n === TICKS - 1 ? 'now' : formatDay(at)}
            </text>
          ))}
        </svg>
      </div>
    </>
  )
}
