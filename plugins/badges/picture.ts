import { makeBadge } from 'badge-maker'
import type { BadgeStatus } from './status.ts'

/** The text on the left of a badge without a label. */
export const DEFAULT_LABEL = 'data quality'

const COLORS: Record<BadgeStatus, string> = { passing: 'brightgreen', failing: 'red', unknown: 'lightgrey' }

/** Characters that XML 1.0 cannot hold, not even as a reference. */
const NON_XML_CHARACTERS = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu

export function drawBadge(status: BadgeStatus, label: string | null = null): string {
  const text = (label ?? DEFAULT_LABEL).replaceAll(NON_XML_CHARACTERS, ' ')
  const svg = makeBadge({ label: text, message: status, color: COLORS[status] })
  // No user text in an attribute; screen readers use the title.
  return svg.replace(/ aria-label="[^"]*"/, '')
}
