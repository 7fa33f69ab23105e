import { formatTime } from '../../lib/format.ts'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { watchTexts } from '../../texts/watching.ts'

export interface WeekClockData {
  timezone: string
  updates: number
  from: string | null
  until: string | null
  /** By weekday, Monday first, and by hour. */
  hours: number[][]
}

const LEVELS = 4
const MAX_NAMED_HOURS = 3

export const hourName = (hour: number) => `${String(hour).padStart(2, '0')}:00`

interface Cell {
  day: number
  hour: number
  count: number
}

const COLUMNS: Column<Cell>[] = [
  { label: 'Day', cell: ({ day }) => watchTexts.days[day] },
  { label: watchTexts.hour, cell: ({ hour }) => hourName(hour) },
  { label: 'Updates', className: 'right', cell: ({ count }) => count },
]

/** At which hours of the week updates arrive: squares that grow with their number, and the same in words and as a list. */
export function WeekClock({ clock }: { clock: WeekClockData }) {
  const cells = clock.hours.flatMap((row, day) => row.map((count, hour) => ({ day, hour, count })))
  const most = Math.max(1, ...cells.map(({ count }) => count))
  const known = cells.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count)
  if (known.length === 0) return <p class="quiet">No update was seen yet.</p>
  const inWords = known
    .slice(0, MAX_NAMED_HOURS)
    .map(({ day, hour }) => `${watchTexts.days[day]} ${hourName(hour)}`)
    .join(', ')
  return (
    <>
      <p>
        {watchTexts.clockSentence(clock.updates, inWords)}{' '}
        <span class="quiet">
          {formatTime(clock.from)} – {formatTime(clock.until)}
        </span>
      </p>
      <div class="scroll" tabindex={0} role="region" aria-label={watchTexts.clock}>
        <svg
          class="week-clock"
          viewBox="0 0 640 198"
          role="img"
          aria-label={watchTexts.clockOf(clock.timezone)}
        >
          {watchTexts.shortDays.map((name, day) => (
            <text key={name} x="0" y={day * 25 + 38}>
              {name}
            </text>
          ))}
          {[0, 6, 12, 18].map(hour => (
            <text key={hour} x={40 + hour * 25} y="14">
              {hourName(hour)}
            </text>
          ))}
          {cells.map(({ day, hour, count }) => {
            const size = count === 0 ? 3 : 7 + 4 * Math.ceil((LEVELS * count) / most - 1)
            return (
              <rect
                key={`${day} ${hour}`}
                class={count > 0 ? 'has' : ''}
                x={52 + hour * 25 - size / 2}
                y={34 + day * 25 - size / 2}
                width={size}
                height={size}
                rx="2"
              >
                <title>{watchTexts.updatesIn(count, watchTexts.days[day]!, hourName(hour))}</title>
              </rect>
            )
          })}
        </svg>
      </div>
      <details>
        <summary>As a list</summary>
        <DataTable
          caption={<caption class="hidden">{watchTexts.clockOf(clock.timezone)}</caption>}
          columns={COLUMNS}
          rows={cells.filter(({ count }) => count > 0)}
          keyOf={({ day, hour }: Cell) => `${day} ${hour}`}
        />
      </details>
    </>
  )
}
