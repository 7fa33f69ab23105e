import type { Submittable } from 'pg'
import type { Row } from '../connector.ts'
import { markRunTime } from '../errors.ts'
import { makeRowReader } from '../row-reader.ts'
import { assertResultFits } from '../session.ts'
import { findParser, type BoundValue } from './values.ts'

/** The part of pg's connection that a statement writes to. */
interface PgConnection {
  stream: { cork?(): void; uncork?(): void }
  parse(message: { text: string; types: number[] }): void
  bind(message: { values: (string | Buffer | null)[] }): void
  describe(message: { type: 'P'; name: string }): void
  execute(message: { rows: number }): void
  close(message: { type: 'S'; name: string }): void
  sync(): void
  sendCopyFail(message: string): void
  once(event: 'parseComplete', listener: () => void): void
  off(event: 'parseComplete', listener: () => void): void
}

interface PgField {
  name: string
  dataTypeID: number
}

/**
 * One statement of the extended protocol, always: the simple one would run `a; b`. Parse, Bind, Describe,
 * Execute and Sync leave in one write; Execute carries the row limit, so the server stops reading at it, and
 * Sync ends the statement's own transaction, so nothing stays open. pg's own `rows` option pages on to the end.
 */
export class PostgresqlStatement implements Submittable {
  readonly rows: Promise<Row[]>
  /** Rows received until now, kept or not. */
  received = 0
  /** Called for each of them. */
  onReceived: () => void = () => {}
  readonly text: string
  readonly #values: readonly BoundValue[]
  readonly #maxRows: number
  readonly #isParsedOnly: boolean
  readonly #found: Row[] = []
  readonly #onRow: (row: Row) => void
  readonly #resolve: (rows: Row[]) => void
  readonly #reject: (error: unknown) => void
  readonly isKept: boolean
  /** Characters of the rows that are kept. */
  #size = 0
  #readRow = makeRowReader<string>([])
  #failure: unknown
  #wire: PgConnection | undefined
  #isParsed = false
  readonly #noteParsed = () => void (this.#isParsed = true)

  /**
   * @param maxRows 0 means all
   * @param take gets each row as it arrives; without it they are kept, and are what `rows` resolves to
   * @param isParsedOnly whether it ends after Parse, which resolves names and types: only Bind plans a statement, and runs
   *   functions that claim to be immutable
   */
  constructor(
    text: string,
    values: readonly BoundValue[],
    maxRows = 0,
    take?: (row: Row) => void,
    isParsedOnly = false,
  ) {
    this.text = text
    this.#values = values
    this.#maxRows = maxRows
    this.#isParsedOnly = isParsedOnly
    this.isKept = take === undefined
    this.#onRow = take ?? (row => void this.#found.push(row))
    const { promise, resolve, reject } = Promise.withResolvers<Row[]>()
    this.rows = promise
    this.#resolve = resolve
    this.#reject = reject
  }

  /** The same statement, to be parsed and not run. */
  parsedOnly(): PostgresqlStatement {
    return new PostgresqlStatement(this.text, this.#values, 0, undefined, true)
  }

  submit(connection: unknown): null {
    const wire = connection as PgConnection
    this.#wire = wire
    wire.once('parseComplete', this.#noteParsed)
    const values = this.#values
    wire.stream.cork?.()
    try {
      wire.parse({ text: this.text, types: values.map(value => value.oid) })
      if (this.#isParsedOnly) wire.close({ type: 'S', name: '' })
      else {
        wire.bind({ values: values.map(value => value.wire) })
        wire.describe({ type: 'P', name: '' })
        wire.execute({ rows: this.#maxRows })
      }
      wire.sync()
    } finally {
      wire.stream.uncork?.()
    }
    return null
  }

  handleRowDescription({ fields }: { fields: PgField[] }): void {
    this.#readRow = makeRowReader(
      fields.map(field => ({ name: field.name, read: findParser(field.dataTypeID) })),
    )
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    this.received += 1
    this.onReceived()
    if (this.#failure !== undefined) return
    try {
      if (this.isKept) this.#size = assertResultFits('postgresql', this.#size, fields)
      this.#onRow(this.#readRow(fields))
    } catch (error) {
      this.#failure = error
    }
  }

  handleReadyForQuery(): void {
    this.#wire?.off('parseComplete', this.#noteParsed)
    if (this.#failure === undefined) this.#resolve(this.#found)
    else this.#reject(this.#failure)
  }

  handleError(error: unknown): void {
    this.#wire?.off('parseComplete', this.#noteParsed)
    this.#reject(this.#isParsed ? markRunTime(error) : error)
  }

  handleCopyInResponse(connection: unknown): void {
    const wire = connection as PgConnection
    wire.sendCopyFail('no data')
    // The server swallowed the first Sync while it waited for data.
    wire.sync()
  }

  handlePortalSuspended(): void {}
  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
  handleCopyData(): void {}
}
