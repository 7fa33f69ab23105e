/** Commands that answer input lines with output lines, in constant memory. */
import { addAbortSignal, type Readable, type Writable } from 'node:stream'

/** Standard input, output and error, or streams like them. */
export interface LineStreams {
  input: Readable & { isTTY?: boolean }
  output: Writable
  /** For people, not for the next program of the pipe. */
  notes: Writable & { isTTY?: boolean }
}

/** An input line that is wrong; the message names it and says what to write instead. */
export class LineError extends Error {
  override readonly name = 'LineError'
}

const MAX_LINE_CHARACTERS = 2 ** 24

/**
 * Answers each line that is not blank with one line as it arrives, and waits for a slow reader. Resolves when the
 * input ends, the reader closes the output, or `signal` aborts.
 * @param answer gets the trimmed line and its number from 1; an error it throws rejects, with earlier answers written
 */
export async function answerLines(
  { input, output }: LineStreams,
  answer: (line: string, number: number) => string,
  signal: AbortSignal,
): Promise<void> {
  // Each write gets its own error; without a listener the same error would also end the process.
  output.on('error', () => {})
  let number = 0
  try {
    for await (const line of linesOf(addAbortSignal(signal, input))) {
      number++
      // Also removes a byte order mark.
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
    if (rest.length > MAX_LINE_CHARACTERS)
      throw new LineError(
        `A line is longer than ${MAX_LINE_CHARACTERS} characters: end each object with a line break.`,
      )
  }
  yield rest
}

function write(output: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => output.write(text, error => (error ? reject(error) : resolve())))
}

function hasReaderGone(error: unknown): boolean {
  return ['EPIPE', 'ERR_STREAM_DESTROYED'].includes((error as NodeJS.ErrnoException).code ?? '')
}
