import type { Duplex } from 'node:stream'

/** What a connection receives, as its driver reads it. */
export interface ByteCounter {
  /** Bytes received until now. */
  received(): number
  /** The answer of another statement begins. */
  beginResult(answer: { isKept: boolean }): void
  /** A row of it has been read. */
  countRow(): void
}

/** Bytes of one row: of what is kept, twice as many as all of its characters together may be. */
const MAX_ROW_BYTES = 64 * 1024 * 1024
/** Bytes of one answer that is kept: its characters take four of them at most. */
const MAX_RESULT_BYTES = 2 * MAX_ROW_BYTES

/**
 * Watches what a connection receives. A driver assembles a whole value in memory, so that one of
 * a gigabyte can only be refused while it arrives.
 * @param flood is called when more came than is ever kept: the connection is to be cut
 */
export function watchReceivedBytes(stream: Duplex, flood: () => void): ByteCounter {
  let received = 0
  let endOfRow = Infinity
  let endOfAnswer = Infinity
  stream.on('data', (chunk: Buffer) => {
    received += chunk.length
    if (received > endOfRow || received > endOfAnswer) flood()
  })
  return {
    received: () => received,
    beginResult({ isKept }) {
      endOfRow = received + MAX_ROW_BYTES
      endOfAnswer = isKept ? received + MAX_RESULT_BYTES : Infinity
    },
    countRow() {
      endOfRow = received + MAX_ROW_BYTES
    },
  }
}
