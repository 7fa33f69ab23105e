import { formatNumber } from '../../lib/format.ts'
import { costTexts } from './cost-texts.ts'

const HEIGHT = 120
/** Width of a day; its bar takes four fifths. */
const STEP = 10

/**
 * A bar for each day. Days are those of UTC, so the time zone of the user does not move them. The numbers belong into a
 * table beside it.
 */
export function DayChart({
  title,
  days,
}: {
  title: string
  days: readonly { day: string; value: number }[]
}) {
  const most = Math.max(...days.map(({ value }) => value))
  return (
    <figure class="day-chart">
      <figcaption>
        {title}
        <span>{costTexts.most(formatNumber(most))}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}. ${costTexts.most(formatNumber(most))}.`}
      >
        {days.map(({ day, value }, n) => {
          // What is not nothing is seen.
          const height = value === 0 ? 0 : Math.max(1, (value / most) * HEIGHT)
          return (
            <g key={day}>
              <title>{`${day}: ${formatNumber(value)}`}</title>
              <rect class="ground" x={n * STEP} y="0" width={STEP} height={HEIGHT} />
              <rect x={n * STEP + 1} y={HEIGHT - height} width={STEP - 2} height={height} />
            </g>
          )
        })}
      </svg>
      <p class="ends">
        <span>{days[0]?.day}</span>
        <span>{days.at(-1)?.day}</span>
      </p>
    </figure>
  )
}
