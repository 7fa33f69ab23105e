/** What one strptime directive matches, as a POSIX extended regular expression without back-references. */
const TIME_PARTS: Record<string, string> = {
  '%H': '([01][0-9]|2[0-3])',
  '%M': '[0-5][0-9]',
  '%S': '[0-5][0-9]',
  '%f': '[0-9]{1,6}',
  '%z': '(Z|[+-]([01][0-9]|2[0-3]):?[0-5][0-9])',
  '%%': '%',
}

const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
]

/** Days, months and kinds of year that exist together; a real date falls into exactly one of these. */
const CALENDAR: readonly { days: string; months: string; numbers: readonly number[]; leap: boolean }[] = [
  {
    days: '(0[1-9]|1[0-9]|2[0-8])',
    months: '(0[1-9]|1[0-2])',
    numbers: MONTHS.map((_, index) => index + 1),
    leap: false,
  },
  { days: '(29|30)', months: '(0[13-9]|1[0-2])', numbers: [1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], leap: false },
  { days: '31', months: '(0[13578]|1[02])', numbers: [1, 3, 5, 7, 8, 10, 12], leap: false },
  { days: '29', months: '02', numbers: [2], leap: true },
]

const MULTIPLES_OF_4 = '(0[48]|[2468][048]|[13579][26])'

/** Year patterns. Two digits mean 1969 to 2068, as in POSIX, where 00 is the leap year 2000. */
const YEARS = {
  '%Y': {
    any: '([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])',
    leap: `([0-9]{2}${MULTIPLES_OF_4}|${MULTIPLES_OF_4}00)`,
  },
  '%y': { any: '[0-9]{2}', leap: '([02468][048]|[13579][26])' },
}

/** A group of parts of which a format names at most one. */
const EXCLUSIVE = [['%Y', '%y'], ['%m', '%b', '%B'], ['%d'], ['%H'], ['%M'], ['%S'], ['%f'], ['%z']]

/**
 * A regular expression that matches exactly the texts that are a real calendar date in a strptime format:
 * 2024-02-29 but not 2023-02-29. Directives are %Y %m %d %y %H %M %S %f %b %B %z %%; numbers have all their
 * digits, names of months are English in any case, and nothing may stand before or after. It needs
 * neither look-around nor back-references, so that every engine with regular expressions understands it.
 * Without a year, the 29th of February is real.
 * @throws Error for a directive outside this list or a part named twice
 */
export function datePattern(format: string): string {
  const parts = format.match(/%.?|[^%]+/gsu) ?? []
  for (const group of EXCLUSIVE) {
    const named = parts.filter(part => group.includes(part))
    if (named.length > 1)
      throw new Error(`The date format ${JSON.stringify(format)} names one part twice: ${named.join(' ')}`)
  }
  const shapes = CALENDAR.map(({ days, months, numbers, leap }) => {
    const names = numbers.map(number => MONTHS[number - 1] ?? '')
    const year = leap ? 'leap' : 'any'
    const known: Record<string, string> = {
      ...TIME_PARTS,
      '%d': days,
      '%m': months,
      '%B': `(${names.map(anyCase).join('|')})`,
      '%b': `(${names.map(name => anyCase(name.slice(0, 3))).join('|')})`,
      '%Y': YEARS['%Y'][year],
      '%y': YEARS['%y'][year],
    }
    return parts.map(part => (part.startsWith('%') ? directive(part, known, format) : literally(part)))
  })
  return `^${union(shapes)}$`
}

/** One of several sequences; what they begin with is written once, which makes the pattern faster. */
function union(shapes: readonly string[][]): string {
  const [first] = shapes
  if (!first || first.length === 0) return ''
  const heads = Map.groupBy(shapes, ([head]) => head ?? '')
  const branches = [...heads].map(([head, group]) => head + union(group.map(([, ...rest]) => rest)))
  return branches.length === 1 ? (branches[0] ?? '') : `(${branches.join('|')})`
}

function directive(part: string, known: Record<string, string>, format: string): string {
  const pattern = Object.hasOwn(known, part) ? known[part] : undefined
  if (pattern !== undefined) return pattern
  throw new Error(
    `The date format ${JSON.stringify(format)} has the unknown directive ${part}: use %Y %m %d %y %H %M %S %f %b %B %z %%`,
  )
}

/** Text that stands for itself. */
function literally(text: string): string {
  return text.replaceAll(/[.*+?()[\]{}|^$\\]/g, '\\$&')
}

function anyCase(name: string): string {
  return [...name].map(letter => `[${letter.toUpperCase()}${letter.toLowerCase()}]`).join('')
}
