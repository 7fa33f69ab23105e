/** Text from elsewhere, made safe to print on a terminal. */

/** Replaces the characters that a terminal would obey with spaces; line breaks stay. */
export function withoutControls(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n]/gu, ' ')
}

/** Folds a text into one line without characters that a terminal would obey. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
}
