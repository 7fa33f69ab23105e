/** Candidates for a misspelt name: `did you mean …?` of error messages. */

/** Most candidates for one name. */
const MAX_CANDIDATES = 3
/** Names beyond it are not compared: the distance takes the product of both lengths. */
const MAX_CHARACTERS = 128
/** Letters of a name that is completed: `crit` to `critical`. */
const MIN_PREFIX_CHARACTERS = 3

/** How many edits a name may be away from a candidate: a third of its length, 1 to 3. */
export function maxEditsOf(name: string): number {
  return Math.min(3, Math.max(1, Math.floor(name.length / 3)))
}

/**
 * The names nearest to a misspelt one, at most three: those of the fewest edits. Case, `-`, `_` and blanks do not count. Give only
 * names that the caller may see.
 */
export function nearest(given: string, names: readonly string[]): string[] {
  if (given.length > MAX_CHARACTERS) return []
  const wanted = fold(given)
  const maxEdits = maxEditsOf(wanted)
  const near = [...new Set(names)].flatMap(name => {
    const edits = distance(wanted, name, maxEdits)
    return edits === null ? [] : [{ name, edits }]
  })
  return onlyNearest(near)
    .slice(0, MAX_CANDIDATES)
    .map(({ name }) => name)
}

/** Those of the fewest edits. */
export function onlyNearest<Item extends { edits: number }>(items: readonly Item[]): Item[] {
  const fewest = Math.min(...items.map(({ edits }) => edits))
  return items.filter(({ edits }) => edits === fewest)
}

function distance(wanted: string, name: string, maxEdits: number): number | null {
  const known = fold(name)
  if (Math.abs(known.length - wanted.length) <= maxEdits) {
    const edits = editsBetween(wanted, known)
    // As many edits as characters make any word of any other.
    if (edits <= maxEdits && edits < Math.min(wanted.length, known.length)) return edits
  }
  return wanted.length >= MIN_PREFIX_CHARACTERS && known.startsWith(wanted) ? maxEdits + 1 : null
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, '')
}

/** The end of a sentence about an unknown name; empty without candidates. */
export function didYouMean(candidates: readonly string[]): string {
  return candidates.length === 0 ? '' : `; did you mean ${candidates.map(quoteName).join(' or ')}?`
}

/** A name in a sentence, cut where it is long. */
export function quoteName(name: string): string {
  const letters = [...name]
  return `\`${letters.length > MAX_CHARACTERS ? `${letters.slice(0, MAX_CHARACTERS).join('')}…` : name}\``
}

/** The optimal string alignment distance: characters to insert, delete, replace, or exchange with the next. */
export function editsBetween(from: string, to: string): number {
  let before: number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)
      const isExchanged = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const exchanged = isExchanged ? before[j - 2]! + 1 : Infinity
      next.push(Math.min(replaced, exchanged, row[j]! + 1, next[j - 1]! + 1))
    }
    before = row
    row = next
  }
  return row[to.length]!
}
