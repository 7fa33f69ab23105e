/**
 * Whether the path of a file matches a pattern. `**` is any folders, `*` any characters of a name and `?` one. The time is at
 * most that of both lengths multiplied, where a regular expression made of the pattern could take forever.
 * @param path below the folder of the pattern, with `/`
 * @param pattern its segments
 */
export function matchesPattern(path: string, pattern: readonly string[]): boolean {
  return matchSequence(path.split('/'), pattern, '**', matchesName)
}

function matchesName(name: string, pattern: string): boolean {
  return matchSequence(
    [...name],
    [...pattern],
    '*',
    (character, wanted) => wanted === '?' || wanted === character,
  )
}

/**
 * Only the last star has to be tried again: those before it have found their shortest match, and a longer one leaves less for
 * what follows. The method is that of Kirk J. Krauss, "Matching Wildcards: An Algorithm" (Dr. Dobb's Journal, 2008).
 * @param star what stands for any items, also none
 */
function matchSequence(
  items: readonly string[],
  pattern: readonly string[],
  star: string,
  matches: (item: string, wanted: string) => boolean,
): boolean {
  let [item, place, lastStar, retried] = [0, 0, -1, 0]
  while (item < items.length) {
    const wanted = pattern[place]
    if (wanted === star) {
      lastStar = place++
      retried = item
    } else if (wanted !== undefined && matches(items[item]!, wanted)) {
      item++
      place++
    } else if (lastStar >= 0) {
      place = lastStar + 1
      item = ++retried
    } else return false
  }
  return pattern.slice(place).every(wanted => wanted === star)
}
