import { formatTime } from '../../lib/format.ts'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { watchTexts } from '../../texts/watching.ts'
import { Drawing } from '../table-page/drawing.tsx'
import { findBusyTimes } from './busy-times.ts'

export interface WeekClockData {
  timezone: string
  updates: number
  from: string | null
  until: string | null
  /** By weekday, Monday first, and by hour. */
  hours: number[][]
}

/** The room of the names of days, and of a day below the names of hours, in pixels. */
const NAME_WIDTH = 36
const HEAD_HEIGHT = 20
const DAY_HEIGHT = 26
const MAX_BAR = 22

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

/** At which hours of the week updates arrive: bars that grow with their number, and the same in words and as a list. */
export function WeekClock({ clock }: { clock: WeekClockData }) {
  const cells = clock.hours.flatMap((row, day) => row.map((count, hour) => ({ day, hour, count })))
  const most = Math.max(...cells.map(({ count }) => count))
  if (most === 0) return <p class="quiet">No update was seen yet.</p>
  const { days, hours } = findBusyTimes(clock.hours)
  return (
    <>
      <p>
        {watchTexts.clockSentence(clock.updates, days, hours.map(hourName))}{' '}
        <span class="quiet">
          {formatTime(clock.from)} – {formatTime(clock.until)}
        </span>
      </p>
      <Drawing height={HEAD_HEIGHT + 7 * DAY_HEIGHT} label={watchTexts.clockOf(clock.timezone)}>
        {(width: number) => {
          const step = (width - NAME_WIDTH) / 24
          return (
            <g class="week-clock">
              {watchTexts.shortDays.map((name, day) => (
                <text key={name} x="0" y={HEAD_HEIGHT + (day + 1) * DAY_HEIGHT - 2}>
                  {name}
                </text>
              ))}
              {[0, 6, 12, 18].map(hour => (
                <text key={hour} x={NAME_WIDTH + hour * step} y="12">
                  {hourName(hour)}
                </text>
              ))}
              {cells.map(({ day, hour, count }) => {
                const height = count === 0 ? 1 : Math.max(3, (MAX_BAR * count) / most)
                return (
                  <rect
                    key={`${day} ${hour}`}
                    class={count > 0 ? 'has' : ''}
                    x={NAME_WIDTH + hour * step}
                    y={HEAD_HEIGHT + (day + 1) * DAY_HEIGHT - height}
                    width={step - 2}
                    height={height}
                  >
                    <title>{watchTexts.updatesIn(count, watchTexts.days[day]!, hourName(hour))}</title>
                  </rect>
                )
              })}
            </g>
          )
        }}
      </Drawing>
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
