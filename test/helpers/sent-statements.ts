import pg from 'pg'

/** A statement that this process sent to PostgreSQL. */
export interface SentStatement {
  text: string
  /** Characters of its longest parameter. */
  longest: number
}

let noted: SentStatement[] | null = null

// A connection keeps the method that it finds when it is opened, and files of one process share servers: the helper of
// servers loads this module, so that the method is replaced before there is any connection.
const { query } = pg.Client.prototype
pg.Client.prototype.query = function (this: pg.Client, ...input: unknown[]) {
  const [first, second] = input as [string | { text?: string; values?: unknown[] }, unknown[]?]
  if (noted !== null) {
    const text = typeof first === 'string' ? first : (first.text ?? '')
    const values = (typeof first === 'string' ? second : (first.values ?? second)) ?? []
    const lengths = Array.isArray(values) ? values.map(value => String(value).length) : []
    noted.push({ text, longest: Math.max(0, ...lengths) })
  }
  return (query as (...all: unknown[]) => unknown).apply(this, input)
} as typeof query

/** Notes the statements that this process sends to PostgreSQL by themselves, not in a packet of several. */
export async function sentDuring(work: () => Promise<unknown>): Promise<SentStatement[]> {
  const sent: SentStatement[] = []
  noted = sent
  try {
    await work()
  } finally {
    noted = null
  }
  return sent
}
