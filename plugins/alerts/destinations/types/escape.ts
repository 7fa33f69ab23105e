import { shorten } from '../destination.ts'

/** The characters of mentions, links and tags in Slack (https://docs.slack.dev/messaging/formatting-message-text) and Google Chat. */
export function escapeTags(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** For fields without escapes: what looks like a tag or a mention must not become one. */
export function replaceTags(text: string): string {
  return text.replaceAll('<', '‹').replaceAll('>', '›')
}

/**
 * A text on one line whose escaped form has at most `maxUnits` UTF-16 units; cut between characters, never inside an
 * escape.
 */
export function escapeWithin(text: string, maxUnits: number, escape: (text: string) => string): string {
  const line = shorten(text, maxUnits)
  const whole = escape(line)
  if (whole.length <= maxUnits) return whole
  let kept = ''
  for (const character of line) {
    const escaped = escape(character)
    if (kept.length + escaped.length > maxUnits - 1) break
    kept += escaped
  }
  return `${kept}…`
}
