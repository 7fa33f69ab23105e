/** What PostgreSQL can store in no text and no JSON: a NUL, and half of a surrogate pair. */
const UNSTORABLE_TEXT = /[\0\p{Surrogate}]/u

/** The same as `JSON.stringify` writes it, behind an even number of backslashes. */
const UNSTORABLE_JSON = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g

export function isStorable(text: string): boolean {
  return !UNSTORABLE_TEXT.test(text)
}

/** A text as it can be stored: with U+FFFD in place of what cannot be. */
export function storable(text: string): string {
  return isStorable(text) ? text : text.replaceAll('\0', '\uFFFD').toWellFormed()
}

/** A value as JSON that can be stored, its keys like its texts. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSTORABLE_JSON, '$1\uFFFD')
}
