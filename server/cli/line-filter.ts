/** Commands that answer lines: read from one stream, written to another, in constant memory. */
import { addAbortSignal, type Readable, type Writable } from 'node:stream'

/** Standard input, output and error, or streams like them. */
export interface Streams {
  input: Readable & { isTTY?: boolean }
  output: Writable
  /** For people, not for the next program of a pipe. */
  notes: Writable & { isTTY?: boolean }
}

/** A line that cannot be read; the message names it and says what to write instead. */
export class LineError extends Error {
  override readonly name = 'LineError'
}

/** Characters of the longest line. */
const LONGEST = 2 ** 24

/**
 * Answers each line that is not blank with one line, as it comes, and waits for a slow reader. Ends, without an
 * error, with the input, when the reader has gone, and when `signal` aborts.
 * @param answer gets the line without its end, and its number from 1; what it throws ends the lines, with all
 *   answers before it written
 */
export async function answerLines(
  { input, output }: Streams,
  answer: (line: string, number: number) => string,
  signal: AbortSignal,
): Promise<void> {
  // Each write hears of its own error; without a listener the same error would end the process, too.
  output.on('error', () => {})
  let number = 0
  try {
    for await (const line of linesOf(addAbortSignal(signal, input))) {
      number++
      // Also takes off the mark that some programs begin a text with.
      const text = line.trim()
      if (text !== '') await write(output, `${answer(text, number)}\n`)
    }
  } catch (error) {
    if (!signal.aborted && !hasReaderGone(error)) throw error
  }
}

async function* linesOf(input: Readable): AsyncGenerator<string> {
  input.setEncoding('utf8')
  let rest = ''
  for await (const chunk of input as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
    if (rest.length > LONGEST)
      throw new LineError(`A line is longer than ${LONGEST} characters: end each object with a line break.`)
  }
  yield rest
}

/** Resolves when the text has been taken. */
function write(output: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => output.write(text, error => (error ? reject(error) : resolve())))
}

function hasReaderGone(error: unknown): boolean {
  return ['EPIPE', 'ERR_STREAM_DESTROYED'].includes((error as NodeJS.ErrnoException).code ?? '')
}
