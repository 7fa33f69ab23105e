import type { Submittable } from 'pg'
import type { Row, Value } from '../connector.ts'
import { encode, parserOf, type BoundValue } from './values.ts'

/** The part of pg's connection that a statement writes to. */
interface Wire {
  stream: { cork?(): void; uncork?(): void }
  parse(message: { text: string; types: number[] }): void
  bind(message: { values: (string | Buffer | null)[] }): void
  describe(message: { type: 'P'; name: string }): void
  execute(message: { rows: number }): void
  sync(): void
  sendCopyFail(message: string): void
}

interface Field {
  name: string
  dataTypeID: number
}

/**
 * One statement of the extended protocol, always: the simple one would run `a; b`. Parse, Bind, Describe,
 * Execute and Sync leave in one write; Execute carries the row limit, so the server stops reading at it, and
 * Sync ends the statement's own transaction, so nothing stays open. pg's own `rows` option pages on to the end.
 */
export class Statement implements Submittable {
  readonly rows: Promise<Row[]>
  readonly #text: string
  readonly #values: readonly BoundValue[]
  readonly #maxRows: number
  readonly #found: Row[] = []
  readonly #resolve: (rows: Row[]) => void
  readonly #reject: (error: unknown) => void
  #columns: { name: string; parse: (text: string) => Value }[] = []
  #failure: unknown

  /**
   * @param maxRows 0 means all
   * @throws TypeError or RangeError for a value that cannot be bound
   */
  constructor(text: string, values: readonly unknown[], maxRows = 0) {
    this.#text = text
    this.#values = values.map(encode)
    this.#maxRows = maxRows
    const { promise, resolve, reject } = Promise.withResolvers<Row[]>()
    this.rows = promise
    this.#resolve = resolve
    this.#reject = reject
  }

  submit(connection: unknown): null {
    const wire = connection as Wire
    const values = this.#values
    wire.stream.cork?.()
    try {
      wire.parse({ text: this.#text, types: values.map(value => value.oid) })
      wire.bind({ values: values.map(value => value.wire) })
      wire.describe({ type: 'P', name: '' })
      wire.execute({ rows: this.#maxRows })
      wire.sync()
    } finally {
      wire.stream.uncork?.()
    }
    return null
  }

  handleRowDescription({ fields }: { fields: Field[] }): void {
    this.#columns = fields.map(field => ({ name: field.name, parse: parserOf(field.dataTypeID) }))
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    if (this.#failure !== undefined) return
    try {
      // fromEntries makes a column called __proto__ a column.
      this.#found.push(
        Object.fromEntries(
          this.#columns.map(({ name, parse }, index) => {
            const text = fields[index]
            return [name, text === null || text === undefined ? null : parse(text)]
          }),
        ),
      )
    } catch (error) {
      this.#failure = error
    }
  }

  handleReadyForQuery(): void {
    if (this.#failure === undefined) this.#resolve(this.#found)
    else this.#reject(this.#failure)
  }

  handleError(error: unknown): void {
    this.#reject(error)
  }

  handleCopyInResponse(connection: unknown): void {
    const wire = connection as Wire
    wire.sendCopyFail('no data')
    // The server swallowed the first Sync while it waited for data.
    wire.sync()
  }

  handlePortalSuspended(): void {}
  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
  handleCopyData(): void {}
}
