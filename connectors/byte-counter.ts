import type { Duplex } from 'node:stream'

/** Counts the bytes that a connection receives, and limits those of a row and of a result. */
export interface ByteCounter {
  /** Total bytes received. */
  received(): number
  /** Starts the limits of the next statement's result. */
  beginResult(result: { isKept: boolean }): void
  /** Starts the limit of the next row. */
  countRow(): void
}

/** Limit of one row. */
const MAX_ROW_BYTES = 64 * 1024 * 1024
/** Limit of a result that is kept: 32 M characters (`connectors/session.ts`) of at most 4 bytes. */
const MAX_RESULT_BYTES = 2 * MAX_ROW_BYTES

/**
 * Counts the bytes of a stream. A driver assembles a whole value in memory, so a value of a gigabyte can only be
 * rejected while it arrives.
 * @param onExceeded called when a limit is exceeded: close the connection
 */
export function watchReceivedBytes(stream: Duplex, onExceeded: () => void): ByteCounter {
  let received = 0
  let endOfRow = Infinity
  let endOfResult = Infinity
  stream.on('data', (chunk: Buffer) => {
    received += chunk.length
    if (received > endOfRow || received > endOfResult) onExceeded()
  })
  return {
    received: () => received,
    beginResult({ isKept }) {
      endOfRow = received + MAX_ROW_BYTES
      endOfResult = isKept ? received + MAX_RESULT_BYTES : Infinity
    },
    countRow() {
      endOfRow = received + MAX_ROW_BYTES
    },
  }
}
