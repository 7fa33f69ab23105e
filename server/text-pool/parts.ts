/**
 * Long lists on their way from a thread of the pool: in parts, since the thread that receives a value copies it in one go,
 * and 500,000 small objects take a second.
 */
import { deserialize, serialize } from 'node:v8'
import { makePauses } from '../pauses.ts'

/** A list, as `packList` makes it. */
export interface PackedList<Item> {
  parts: Uint8Array[]
  /** Exists for the compiler only. */
  types?: Item
}

/** Values of a part: copying them takes about 5 ms. An item that has more is a part by itself. */
const VALUES_PER_PART = 20_000
/** A text takes as long as so many of its characters' worth of values. */
const CHARACTERS_PER_VALUE = 100

/** Called in the thread. Items hold what `structuredClone` can copy. */
export function packList<Item>(items: Iterable<Item>): PackedList<Item> {
  const parts: Uint8Array[] = []
  let part: Item[] = []
  let size = 0
  const flush = () => {
    if (part.length > 0) parts.push(serialize(part))
    part = []
    size = 0
  }
  for (const item of items) {
    const own = countValues(item)
    if (size + own > VALUES_PER_PART) flush()
    part.push(item)
    size += own
  }
  flush()
  return { parts }
}

/** Called in the thread that serves people: others get their turn between the parts. */
export async function unpackList<Item>({ parts }: PackedList<Item>): Promise<Item[]> {
  const pause = makePauses()
  const items: Item[] = []
  for (const part of parts) {
    for (const item of deserialize(part) as Item[]) items.push(item)
    await pause()
  }
  return items
}

/** The values in a value, itself among them; long texts count for several. */
export function countValues(value: unknown): number {
  if (typeof value === 'string') return 1 + Math.trunc(value.length / CHARACTERS_PER_VALUE)
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  const inner = value instanceof Map ? [...value].flat(1) : Object.values(value)
  for (const each of inner) count += countValues(each)
  return count
}
