import { setImmediate } from 'node:timers/promises'

const ITEMS_BETWEEN_PAUSES = 50

/** Filters tables by patterns with pauses, because hundreds of long patterns take milliseconds for each table. */
export async function filterWithPauses<Item>(
  items: readonly Item[],
  isWanted: (item: Item) => boolean,
): Promise<Item[]> {
  const wanted: Item[] = []
  for (const [index, item] of items.entries()) {
    if (index % ITEMS_BETWEEN_PAUSES === 0) await setImmediate()
    if (isWanted(item)) wanted.push(item)
  }
  return wanted
}
