/** Letters of one word or digits: `custEmail2` is cust, Email, 2; `IPAddress` is IP, Address. */
const WORD = /\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lu}+|[\p{Lo}\p{Lt}\p{Lm}]+/gu
/** The same of a name without other letters, as nearly all are; several times as fast. */
const PLAIN_WORD = /[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+/g
const PLAIN = /^[ -~]*$/

/** Words that only join others: `date_of_birth`, `fecha_de_nacimiento`. */
const JOINING_WORDS = new Set(['of', 'the', 'de', 'del', 'la', 'du', 'des', 'der', 'do', 'da'])

/** Characters of a name that are looked at; engines allow 63 to 300. */
const MAX_NAME_LENGTH = 300
/** Shorter ones are words of their own, even if two shorter ones would make them up. */
const MIN_JOINED_LENGTH = 5

/** A name as words in small letters, without accents, digits and words that only join; what is known in the singular. */
interface NameWords {
  words: string[]
  /** Whether one of them was a plural. */
  isPlural: boolean
}

/**
 * The words of a name in snake_case, kebab-case, camelCase or run together: a word that is not known and is made up of
 * known ones is taken for those.
 */
export function splitWords(name: string, known: ReadonlySet<string>): NameWords {
  const found = split(name.slice(0, MAX_NAME_LENGTH)).flatMap(word => splitJoined(word.toLowerCase(), known))
  const words = found.map(word => singular(word, known))
  return {
    words: words.filter(word => !JOINING_WORDS.has(word)),
    isPlural: words.some((word, index) => word !== found[index]),
  }
}

function split(name: string): readonly string[] {
  if (PLAIN.test(name)) return name.match(PLAIN_WORD) ?? []
  const plain = name.replaceAll('ß', 'ss').normalize('NFKD').replaceAll(/\p{M}/gu, '')
  return plain.match(WORD) ?? []
}

function singular(word: string, known: ReadonlySet<string>): string {
  if (known.has(word) || !word.endsWith('s')) return word
  return [word.slice(0, -1), word.slice(0, -2)].find(shorter => known.has(shorter)) ?? word
}

/** A word that is not known, as the fewest known ones that make it up; itself where none do. */
function splitJoined(word: string, known: ReadonlySet<string>): string[] {
  if (word.length < MIN_JOINED_LENGTH || known.has(singular(word, known))) return [word]
  /** The fewest words that make up the first characters, by their number. */
  const best: (string[] | undefined)[] = [[]]
  for (let end = 1; end <= word.length; end++) {
    for (let start = Math.max(0, end - 30); start < end - 1; start++) {
      const before = best[start]
      const piece = word.slice(start, end)
      if (!before || !(known.has(piece) || (end === word.length && known.has(singular(piece, known)))))
        continue
      if (before.length + 1 < (best[end]?.length ?? Infinity)) best[end] = [...before, piece]
    }
  }
  return best[word.length] ?? [word]
}
