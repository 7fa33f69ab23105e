import { makeBadge } from 'badge-maker'
import type { Status } from './status.ts'

/** What stands on the left of a badge that was given no label. */
export const DEFAULT_LABEL = 'data quality'

const COLORS: Record<Status, string> = { passing: 'brightgreen', failing: 'red', unknown: 'lightgrey' }

/** What XML 1.0 cannot hold, not even as a reference. */
const NO_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu

/** The picture of a badge, as SVG. */
export function drawBadge(status: Status, label: string | null = null): string {
  const text = (label ?? DEFAULT_LABEL).replaceAll(NO_XML, ' ')
  const svg = makeBadge({ label: text, message: status, color: COLORS[status] })
  // Text of others stands in no attribute: readers of the screen take the title.
  return svg.replace(/ aria-label="[^"]*"/, '')
}
