import { storable } from '../../server/database/storable.ts'

/** A text, a number, a list …: JSON of which nothing is known yet. */
export type Json = unknown

export function isRecord(value: Json): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A text as the database can hold it; undefined of anything else. */
export function textOf(value: Json): string | undefined {
  return typeof value === 'string' ? storable(value) : undefined
}

/** The given fields that are texts. */
export function pickTexts<Key extends string>(
  from: Record<string, Json>,
  keys: readonly Key[],
): Partial<Record<Key, string>> {
  return Object.fromEntries(
    keys.flatMap(key => {
      const text = textOf(from[key])
      return text === undefined ? [] : [[key, text]]
    }),
  ) as Partial<Record<Key, string>>
}
