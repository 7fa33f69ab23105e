import { formatNumber, formatTime } from '../../lib/format.ts'
import { texts } from '../../texts.ts'
import { nameMark, type ChartMark, type ChartPoint } from './points.ts'

/** A mark stands beside the values of the half day around it. */
const MARK_MS = 12 * 3_600_000

/** A value of a chart in words: what was expected of it, and what happened then. */
export function Readout({
  of: point,
  unit = '',
  marks,
  isChange,
}: {
  of: ChartPoint | undefined
  unit?: string | undefined
  marks: readonly ChartMark[]
  isChange: boolean
}) {
  const format = (value: number) => `${isChange && value > 0 ? '+' : ''}${formatNumber(value)}`
  return (
    <p class="readout" aria-live="polite">
      {point ? (
        <>
          <time>{formatTime(point.at)}</time>
          <strong>{point.value === null ? 'no value' : `${format(point.value)}${unit && ` ${unit}`}`}</strong>
          {point.low != null && point.high != null && (
            <span>{texts.expectedRange(format(point.low), format(point.high))}</span>
          )}
          {point.isAnomaly && <span class="bad">{texts.anomaly}</span>}
          {point.lines?.map(line => (
            <span key={line}>{line}</span>
          ))}
          {marks
            .filter(({ at, text }) => text && Math.abs(at - point.at) < MARK_MS)
            .map(mark => (
              <span key={`${mark.at} ${mark.text}`}>{nameMark(mark)}</span>
            ))}
          {point.explanation && <span class="sentence">{point.explanation}</span>}
        </>
      ) : (
        'No values yet.'
      )}
    </p>
  )
}
