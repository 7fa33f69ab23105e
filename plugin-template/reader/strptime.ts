const MONTHS = 'january february march april may june july august september october november december'.split(
  ' ',
)
const LONGEST = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** A pattern for names in any case; the format's own literal text is taken as it stands. */
function anyCase(names: readonly string[]): string {
  return names.join('|').replaceAll(/[a-z]/g, letter => `[${letter}${letter.toUpperCase()}]`)
}

/** The text that each part of a format stands for; every part in its full width, so that 2024-1-5 is no date. */
const PARTS: Record<string, string> = {
  Y: '[0-9]{4}',
  y: '[0-9]{2}',
  m: '[0-9]{2}',
  d: '[0-9]{2}',
  j: '[0-9]{3}',
  H: '[0-9]{2}',
  I: '[0-9]{2}',
  p: anyCase(['am', 'pm']),
  M: '[0-9]{2}',
  S: '[0-9]{2}',
  f: '[0-9]{1,6}',
  b: anyCase(MONTHS.map(name => name.slice(0, 3))),
  B: anyCase(MONTHS),
  z: '[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9]|Z',
}

/** The least and the greatest value of the parts that are plain numbers. */
const BOUNDS: Record<string, readonly [number, number]> = {
  Y: [1, 9999],
  m: [1, 12],
  d: [1, 31],
  j: [1, 366],
  H: [0, 23],
  I: [1, 12],
  M: [0, 59],
  S: [0, 59],
}

const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0

/** The text that stood for a part, or undefined where the format has no such part. */
type Part = (name: string) => string | undefined

/** POSIX: two digits from 69 on are of the twentieth century. Without a year any day of a leap year is real. */
function yearOf(part: Part): number {
  const full = part('Y')
  if (full !== undefined) return Number(full)
  const short = part('y')
  return short === undefined ? 2000 : Number(short) + (Number(short) < 69 ? 2000 : 1900)
}

function monthOf(part: Part): number | undefined {
  const number = part('m')
  if (number !== undefined) return Number(number)
  const name = (part('b') ?? part('B'))?.toLowerCase()
  return name === undefined ? undefined : MONTHS.findIndex(month => month.startsWith(name)) + 1
}

function isReal(part: Part): boolean {
  const year = yearOf(part)
  const month = monthOf(part)
  if (part('j') === '366' && !isLeap(year)) return false
  if (month === undefined) return true
  return Number(part('d') ?? 1) <= (month === 2 && !isLeap(year) ? 28 : (LONGEST[month - 1] ?? 0))
}

/**
 * Compiles a strptime format to a function that returns whether a text is a real calendar date in exactly that form.
 * @throws RangeError for a part that is not known, and for one that stands in the format twice
 */
export function dateReader(format: string): (text: string) => boolean {
  const names: string[] = []
  const pattern = format.replaceAll(/%([\s\S]?)|[\\^$.*+?()[\]{}|/]/g, (text: string, name?: string) => {
    if (name === undefined) return `\\${text}`
    if (name === '%') return '%'
    const stands = PARTS[name]
    if (stands === undefined) throw new RangeError(`The date format has ${text}, which is not known.`)
    if (names.includes(name)) throw new RangeError(`The date format has ${text} twice.`)
    names.push(name)
    return `(${stands})`
  })
  const form = new RegExp(`^(?:${pattern})$`, 'u')
  const positions = new Map(names.map((name, index) => [name, index + 1]))
  const bounded = names.flatMap((name, index) =>
    BOUNDS[name] ? [[index + 1, ...BOUNDS[name]] as const] : [],
  )
  return text => {
    const match = form.exec(text)
    if (!match) return false
    for (const [position, least, greatest] of bounded) {
      const number = Number(match[position])
      if (number < least || number > greatest) return false
    }
    return isReal(name => match[positions.get(name) ?? -1])
  }
}
