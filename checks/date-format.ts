/** strptime's parts that every engine with date parsing understands. */
const DIRECTIVES = new Set(['%Y', '%m', '%d', '%y', '%H', '%M', '%S', '%f', '%b', '%B', '%z', '%%'])

/** Directives that say the same; a format has one of each at most. */
const EXCLUSIVE_DIRECTIVES: readonly (readonly string[])[] = [
  ['%Y', '%y'],
  ['%m', '%b', '%B'],
  ...['%d', '%H', '%M', '%S', '%f', '%z'].map(part => [part]),
]

/** strptime's abbreviations of several parts. */
const ABBREVIATIONS: Record<string, string> = { '%F': '%Y-%m-%d', '%T': '%H:%M:%S' }

/** The common letters, the longest first; `YYYY-MM-DD HH:mm:ss` and SQL's `YYYY-MM-DD HH24:MI:SS`. */
const LETTERS: readonly (readonly [string, string])[] = [
  ['YYYY', '%Y'],
  ['yyyy', '%Y'],
  ['YY', '%y'],
  ['yy', '%y'],
  ['MMMM', '%B'],
  ['MMM', '%b'],
  ['MM', '%m'],
  ['MI', '%M'],
  ['DD', '%d'],
  ['dd', '%d'],
  ['HH24', '%H'],
  ['HH', '%H'],
  ['mm', '%M'],
  ['SSSSSS', '%f'],
  ['SSS', '%f'],
  ['ss', '%S'],
  ['SS', '%S'],
  ['ZZ', '%z'],
  ['Z', '%z'],
]

/** Reading one looks at what is left for each of its parts. */
export const MAX_FORMAT_CHARACTERS = 100

export type DateFormat = { strptime: string } | { error: string }

/** Text in square brackets or single quotes, and the T between a date and a time. */
const LITERAL_TEXT = /^(?:\[([^\]]*)\]|'([^']*)'|(T)(?=H))/

function fromLetters(format: string): DateFormat {
  let rest = format
  let strptime = ''
  while (rest !== '') {
    const literal = LITERAL_TEXT.exec(rest)
    const letters = LETTERS.find(([text]) => rest.startsWith(text))
    if (literal) {
      strptime += (literal[1] ?? literal[2] ?? literal[3] ?? '').replaceAll('%', '%%')
      rest = rest.slice(literal[0].length)
    } else if (letters) {
      strptime += letters[1]
      rest = rest.slice(letters[0].length)
    } else if (/^\p{L}/u.test(rest)) {
      const unknown = /^\p{L}+/u.exec(rest)?.[0]
      return {
        error: `format has ${JSON.stringify(unknown)}, which is no date part: use YYYY, YY, MMMM, MMM, MM, DD, HH, mm, ss, SSS, Z, or put literal text in [brackets].`,
      }
    } else {
      strptime += rest.slice(0, 1)
      rest = rest.slice(1)
    }
  }
  return { strptime }
}

function fromStrptime(format: string): DateFormat {
  const strptime = format.replaceAll(/%[FT]/g, part => ABBREVIATIONS[part] ?? part)
  const unknown = strptime.match(/%.?/gsu)?.find(part => !DIRECTIVES.has(part))
  if (unknown === undefined) return { strptime }
  return {
    error: `format has ${JSON.stringify(unknown)}, which is not supported: use ${[...DIRECTIVES].join(' ')} and literal text.`,
  }
}

function findFault(strptime: string): string | null {
  const parts = strptime.match(/%./gsu)?.filter(part => part !== '%%') ?? []
  if (parts.length === 0) return 'format has no date part: write it like %Y-%m-%d or YYYY-MM-DD.'
  const twice = EXCLUSIVE_DIRECTIVES.map(same => parts.filter(part => same.includes(part))).find(
    found => found.length > 1,
  )
  if (twice) return `format says one thing twice: ${twice.join(' and ')}.`
  if (parts.includes('%M') && !parts.includes('%H')) {
    return 'format has minutes without hours: the month is %m or MM, minutes are %M or mm.'
  }
  return null
}

/** A format without its parts in brackets, which are taken as they are. */
function outsideBrackets(format: string): string {
  let outside = ''
  for (let at = 0; ;) {
    const open = format.indexOf('[', at)
    const close = open === -1 ? -1 : format.indexOf(']', open)
    if (close === -1) return outside + format.slice(at)
    outside += format.slice(at, open)
    at = close + 1
  }
}

/**
 * Reads a date format in strptime's form (`%Y-%m-%d`) or in letters (`YYYY-MM-DD HH:mm:ss`); one with a
 * per cent sign outside brackets is strptime's. Letters mean what they mean in Moment.js, and MI, HH24 and SS what they mean
 * in SQL.
 * @returns the format in strptime's form, or a sentence that says what is wrong
 */
export function readDateFormat(format: string): DateFormat {
  if (format.length > MAX_FORMAT_CHARACTERS)
    return { error: `format has more than ${MAX_FORMAT_CHARACTERS} characters: shorten it.` }
  const read = outsideBrackets(format).includes('%') ? fromStrptime(format) : fromLetters(format)
  if ('error' in read) return read
  const fault = findFault(read.strptime)
  return fault ? { error: fault } : read
}
