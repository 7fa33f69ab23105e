/** Makes foreign text safe to print on a terminal. */

/** Replaces control characters with spaces, except line breaks. */
export function withoutControls(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n]/gu, ' ')
}

/** Folds a text into one line without control characters. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
}
