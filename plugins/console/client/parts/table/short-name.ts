/** Characters of a name that a column of a list has room for. */
const MAX_LENGTH = 32

/** The end of each name that no other of them has: `orders`, or `shop.orders` beside another schema's. */
export function shortNames(names: Iterable<string>): Map<string, string> {
  const all = [...new Set(names)]
  const counts = new Map<string, number>()
  for (const end of all.flatMap(endsOf)) counts.set(end, (counts.get(end) ?? 0) + 1)
  return new Map(all.map(name => [name, endsOf(name).find(end => counts.get(end) === 1) ?? name]))
}

/** What a name ends with, from its last part to the whole. */
function endsOf(name: string): string[] {
  const parts = name.split('.')
  return parts.map((_, n) => parts.slice(parts.length - 1 - n).join('.'))
}

/** A name without its middle, where it has more than `max` characters: names differ at their ends. */
export function shortenMiddle(name: string, max = MAX_LENGTH): string {
  const characters = [...name]
  if (characters.length <= max) return name
  const kept = max - 1
  const tail = Math.ceil(kept / 2)
  return `${characters.slice(0, kept - tail).join('')}…${characters.slice(-tail).join('')}`
}
