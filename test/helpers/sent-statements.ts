import pg from 'pg'

/** A statement that this process sent to PostgreSQL. */
export interface SentStatement {
  text: string
  /** Characters of its longest parameter. */
  longest: number
}

/** The driver's query, of which each statement of a packet is one. */
interface DriverQuery {
  text: string
  values?: readonly unknown[] | null
  requiresPreparation(): boolean
  submit(connection: object): Error | null
  prepare(connection: object): void
}

const driver = (pg.Query as unknown as { prototype: DriverQuery }).prototype
let noted: SentStatement[] | null = null

function note({ text, values }: DriverQuery): void {
  noted?.push({ text, longest: Math.max(0, ...(values ?? []).map(value => String(value).length)) })
}

// The query is hooked and not the client: connections keep the client's method that they found when they were opened, and
// those of a shared server may be older than this module.
const { submit, prepare } = driver
driver.submit = function (connection) {
  if (!this.requiresPreparation()) note(this)
  return submit.call(this, connection)
}
driver.prepare = function (connection) {
  note(this)
  prepare.call(this, connection)
}

/** Notes the statements that this process sends to PostgreSQL while something is done, prepared before or not. */
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
