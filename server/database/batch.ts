/** Sends several statements to PostgreSQL in one round trip. */
import { knexSnakeCaseMappers } from 'objection'
import pg from 'pg'

/** Converts names between PostgreSQL (snake_case) and the program (camelCase). */
export const mappers = knexSnakeCaseMappers()

/** A statement as the driver takes it. A named one is parsed once per connection. */
export interface Statement {
  text: string
  values: unknown[]
  name?: string
}

/** The driver's connection, as its own queries write to it. */
interface Wire {
  /** SQL texts by statement name: those that PostgreSQL has parsed, and those sent to be parsed. */
  parsedStatements: Record<string, string>
  submittedNamedStatements: Record<string, string>
  sync(): void
  describe(message: object): void
}

/** The driver's query: writes its messages and handles those of the reply. */
interface DriverQuery {
  name?: string
  text: string
  callback?(error: Error | null, rows: object[][]): void
  hasBeenParsed(wire: Wire): unknown
  /** @returns the error when nothing was sent */
  submit(wire: Wire): Error | null
  requiresPreparation(): boolean
  prepare(wire: Wire): void
  handleRowDescription(message: { fields: { name: string; dataTypeID: number }[] }): void
  handleDataRow(message: { fields: (string | null)[] }): void
  handleCommandComplete(): void
  handleEmptyQuery(): void
  handleReadyForQuery(): void
}

// Its types cover the public interface only; its version is pinned, and tests cover the rest.
const Query = pg.Query as unknown as new (
  asked: object,
  values?: unknown[],
  notify?: QueryCallback,
) => DriverQuery
type QueryCallback = (error: Error | null) => void

/** A column of a result, with its camelCase name. */
interface Column {
  name: string
  parse(text: string): unknown
}

/** The columns of each connection's named statements, so that PostgreSQL need not describe them again. */
const columnsOf = new WeakMap<Wire, Map<string, readonly Column[]>>()

/**
 * Several statements as one query of the driver. Sync is sent only after the last, so PostgreSQL runs them all in one
 * transaction, without `BEGIN` and `COMMIT`, and sends all results together: see "Pipelining" in the chapter "Message
 * Flow" of its manual. After an error it skips the rest.
 */
export class Batch extends Query {
  readonly size: number
  /** Whether an error left it unknown which named statements the connection still has. */
  isInDoubt = false
  readonly #parts: readonly DriverQuery[]
  readonly #rows: object[][]
  #known: Map<string, readonly Column[]> = new Map()
  #columns: readonly Column[] = []
  #at = -1
  #error: Error | null = null

  constructor(statements: readonly Statement[]) {
    super({ text: '' })
    this.size = statements.length
    this.#rows = statements.map(() => [])
    // A part whose value cannot be sent fails by itself, and its name is forgotten; the others run.
    const notify: QueryCallback = error => {
      this.#error ??= error
      this.isInDoubt = true
    }
    this.#parts = statements.map(
      ({ text, values, name }) => new Query({ text, name, queryMode: 'extended' }, values, notify),
    )
  }

  override requiresPreparation(): boolean {
    return true
  }

  override submit(wire: Wire): Error | null {
    const texts = new Map<string, string>()
    for (const { name, text } of this.#parts) {
      if (!name) continue
      const known =
        texts.get(name) ?? wire.parsedStatements[name] ?? wire.submittedNamedStatements[name] ?? text
      if (known !== text) return new Error(`The name "${name}" stands for another statement already`)
      texts.set(name, text)
    }
    return super.submit(wire)
  }

  override prepare(wire: Wire): void {
    this.#known = columnsOf.get(wire) ?? new Map<string, readonly Column[]>()
    columnsOf.set(wire, this.#known)
    const ofPart = Object.create(wire) as Wire
    ofPart.sync = () => undefined
    const quiet = Object.create(ofPart) as Wire
    quiet.describe = () => undefined
    for (const part of this.#parts) {
      if (part.name && !part.hasBeenParsed(wire)) {
        this.isInDoubt = true
        this.#known.delete(part.name)
      }
      part.prepare(this.#known.has(part.name ?? '') ? quiet : ofPart)
    }
    wire.sync()
    this.#next()
  }

  #next(): void {
    this.#at += 1
    this.#columns = this.#known.get(this.#parts[this.#at]?.name ?? '') ?? []
  }

  override handleRowDescription({ fields }: Parameters<DriverQuery['handleRowDescription']>[0]): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({
      name: named(name),
      parse: pg.types.getTypeParser(dataTypeID, 'text') as Column['parse'],
    }))
    const { name } = this.#parts[this.#at] ?? {}
    if (name) this.#known.set(name, this.#columns)
  }

  override handleDataRow({ fields }: Parameters<DriverQuery['handleDataRow']>[0]): void {
    const row: Record<string, unknown> = {}
    try {
      this.#columns.forEach(({ name, parse }, index) => {
        const text = fields[index]
        row[name] = text == null ? null : parse(text)
      })
      this.#rows[this.#at]?.push(row)
    } catch (error) {
      this.#error ??= error as Error
    }
  }

  override handleCommandComplete(): void {
    this.#next()
  }

  override handleEmptyQuery(): void {
    this.#next()
  }

  override handleReadyForQuery(): void {
    this.callback?.(this.#error, this.#rows)
  }
}

/** Sends a batch over a connection, or over one of a pool. @returns the rows of each statement */
export function sendBatch(
  to: { query(batch: Batch, done: (error: Error | null, rows: object[][]) => void): unknown },
  batch: Batch,
): Promise<object[][]> {
  return new Promise((resolve, reject) => {
    to.query(batch, (error, rows) => (error ? reject(error) : resolve(rows)))
  })
}

function named(column: string): string {
  return Object.keys(mappers.postProcessResponse({ [column]: null }) as object)[0] ?? column
}
