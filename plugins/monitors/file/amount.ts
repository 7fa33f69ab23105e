/** What the files of a request hold, each alias counted as what it stands for. */

export interface Amount {
  checks: number
  values: number
  /** Characters of texts and of the names of fields. */
  characters: number
}

/** All files of a request together: judging a check takes about a millisecond, and a check has about 12 values. */
const LIMITS: Amount = { checks: 10_000, values: 300_000, characters: 8_000_000 }

export class TooMuchError extends Error {
  override readonly name = 'TooMuchError'
}

/**
 * Adds a document to what was counted before, and stops at the first limit.
 * @throws TooMuchError naming the limit
 */
export function assertFewParts(document: unknown, amount: Amount): void {
  add(amount, 'checks', countChecks(document))
  const open = [document]
  while (open.length > 0) {
    const value = open.pop()
    add(amount, 'values', 1)
    if (typeof value === 'string') add(amount, 'characters', value.length)
    if (typeof value !== 'object' || value === null) continue
    for (const [name, inner] of Object.entries(value)) {
      if (!Array.isArray(value)) add(amount, 'characters', name.length)
      open.push(inner)
    }
  }
}

function countChecks(document: unknown): number {
  let count = 0
  for (const table of Object.values(fieldOf(document, 'tables')))
    for (const entries of Object.values(fieldOf(table, 'checks')))
      if (Array.isArray(entries)) count += entries.length
  return count
}

function fieldOf(value: unknown, name: string) {
  const field = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : null
  return typeof field === 'object' && field !== null ? (field as Record<string, unknown>) : {}
}

function add(amount: Amount, what: keyof Amount, count: number): void {
  amount[what] += count
  if (amount[what] > LIMITS[what]) throw tooMuch(what)
}

function tooMuch(what: keyof Amount): TooMuchError {
  const most = LIMITS[what].toLocaleString('en')
  return new TooMuchError(
    `The files have more than ${most} ${what}, with what their aliases stand for: shorten them, or send those of fewer tables`,
  )
}
