import type { Duplex } from 'node:stream'

/** What a connection receives, as its driver reads it. */
export interface Flow {
  /** Bytes received until now. */
  received(): number
  /** The answer of another statement begins. */
  begin(answer: { isKept: boolean }): void
  /** A row of it has been read. */
  row(): void
}

/** Bytes of one row: of what is kept, twice as many as all of its characters together may be. */
const MOST_OF_ROW = 64 * 1024 * 1024
/** Bytes of one answer that is kept: its characters take four of them at most. */
const MOST_OF_ANSWER = 2 * MOST_OF_ROW

/**
 * Watches what a connection receives. A driver puts a value together in memory before anybody sees it, so that one of
 * a gigabyte can only be refused while it is on its way.
 * @param flood is called when more came than is ever kept: the connection is to be cut
 */
export function watchFlow(stream: Duplex, flood: () => void): Flow {
  let received = 0
  let endOfRow = Infinity
  let endOfAnswer = Infinity
  stream.on('data', (chunk: Buffer) => {
    received += chunk.length
    if (received > endOfRow || received > endOfAnswer) flood()
  })
  return {
    received: () => received,
    begin({ isKept }) {
      endOfRow = received + MOST_OF_ROW
      endOfAnswer = isKept ? received + MOST_OF_ANSWER : Infinity
    },
    row() {
      endOfRow = received + MOST_OF_ROW
    },
  }
}
