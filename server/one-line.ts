/** Controls of the direction of text, with which a name could reorder the rest of its line. */
const BIDI_CONTROLS = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g

export function removeBidiControls(text: string): string {
  return text.replace(BIDI_CONTROLS, '')
}

/**
 * A text on one line, without direction controls, of at most `maxUnits` UTF-16 units. A text that is cut, never inside a
 * character, ends in `…`.
 */
export function shorten(text: string, maxUnits: number): string {
  const line = removeBidiControls(text)
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  if (line.length <= maxUnits) return line
  let kept = ''
  for (const character of line) {
    if (kept.length + character.length > maxUnits - 1) break
    kept += character
  }
  return `${kept.trimEnd()}…`
}
