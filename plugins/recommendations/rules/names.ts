/** What the names of columns say. */

/** The words of a name, in small letters: `customerID`, `customer_id` and `Customer Id` are the same. */
export function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(word => word !== '')
}

/** The last words of names whose values identify something. */
const IDENTIFIERS = new Set(
  'id ids idno idnum uuid guid key pk sk fk hash token number no nr code sku isbn ean serial reference ref slug'.split(
    ' ',
  ),
)

export function isIdentifier(name: string): boolean {
  const words = wordsOf(name)
  return words[0] === 'id' || IDENTIFIERS.has(words.at(-1) ?? '')
}

/** The last words of names that refer to another thing, where they begin with its name. */
const REFERENCES = new Set(['id', 'key', 'fk', 'sk', 'code', 'uuid', 'guid'])

/** Whether a column is called after another table than its own: `customer_id` of orders. */
export function isReference(name: string, table: string): boolean {
  const words = wordsOf(name)
  if (words.length < 2 || !REFERENCES.has(words.at(-1)!)) return false
  const things = wordsOf(table).map(singularOf)
  return !words.slice(0, -1).every(word => things.includes(singularOf(word)))
}

/** Names of texts that anyone may write: what was seen of them says little of what will be. */
const OPEN_TEXTS = new Set(
  'name title city town comment note notes description text message subject label address street url path agent'.split(
    ' ',
  ),
)

export function isOpenText(name: string): boolean {
  return wordsOf(name).some(word => OPEN_TEXTS.has(word))
}

/** Names of numbers that stand for one of few things. */
const CODES = new Set(
  'status state type kind level category class grade priority flag tier stage mode code'.split(' '),
)

export function isCode(name: string): boolean {
  return CODES.has(wordsOf(name).at(-1) ?? '')
}

/** Parts of dates, which move by the calendar. */
const CALENDAR = new Set('year quarter month week day hour minute weekday'.split(' '))

/** Whether a number is a part of a date: `year`, `day_of_week`. */
export function isCalendar(name: string): boolean {
  return wordsOf(name).some(word => CALENDAR.has(word))
}

/** Names of values that are few by their meaning, so that all of them are soon seen. Types, categories and codes grow. */
const CLOSED_LISTS = new Set(
  'status state level class grade priority flag tier stage mode size severity gender sex'.split(' '),
)

export function isClosedList(name: string): boolean {
  return CLOSED_LISTS.has(wordsOf(name).at(-1) ?? '')
}

/** Names of quantities that are never below zero. */
const QUANTITIES = new Set(
  `price amount total subtotal cost quantity qty count stock weight height width length size age duration
   seconds minutes hours days distance tax fee fees discount salary wage revenue volume population area units
   points score rate rating stars percent percentage pct ratio share probability capacity views clicks
   impressions visits items budget cents rooms seats pages words bytes votes installs`.split(/\s+/),
)
/** Words that make a quantity signed. */
const SIGNED = new Set(
  `balance delta change difference diff profit loss margin temperature temperatures temp temps adjustment refund net growth variance
   offset latitude longitude lat lon lng x y z deviation`.split(/\s+/),
)

/** Whether a number of this name is never below zero. */
export function isQuantity(name: string): boolean {
  const words = wordsOf(name)
  return words.some(word => QUANTITIES.has(word)) && !words.some(word => SIGNED.has(word))
}

export function isSigned(name: string): boolean {
  return wordsOf(name).some(word => SIGNED.has(word))
}

/** Bounds that the meaning of a name gives, if the values seen respect them: the first that fits. */
const MEANINGS: { words: string[]; min: number; max: number }[] = [
  { words: ['latitude', 'lat'], min: -90, max: 90 },
  { words: ['longitude', 'lon', 'lng'], min: -180, max: 180 },
  { words: ['ratio', 'share', 'probability', 'fraction'], min: 0, max: 1 },
  { words: ['percent', 'percentage', 'pct'], min: 0, max: 1 },
  { words: ['percent', 'percentage', 'pct'], min: 0, max: 100 },
  { words: ['rating', 'stars'], min: 0, max: 5 },
  { words: ['rating'], min: 0, max: 10 },
  { words: ['age'], min: 0, max: 150 },
  { words: ['year'], min: 1900, max: 2100 },
  { words: ['month'], min: 1, max: 12 },
  { words: ['hour'], min: 0, max: 23 },
  { words: ['weekday'], min: 0, max: 7 },
]

/** The bounds of a number by its name, where all values seen lie within them. */
export function meaningOf(name: string, min: number, max: number): { min: number; max: number } | undefined {
  const words = wordsOf(name)
  return MEANINGS.find(
    meaning => meaning.words.some(word => words.includes(word)) && min >= meaning.min && max <= meaning.max,
  )
}

/** Singular of an English plural, by its ending. */
export function singularOf(word: string): string {
  if (/ies$/.test(word) && word.length > 4) return `${word.slice(0, -3)}y`
  if (/(ss|x|ch|sh|z)es$/.test(word) || /(?:us|as|is)es$/.test(word)) return word.slice(0, -2)
  return /[^su]s$/.test(word) ? word.slice(0, -1) : word
}
