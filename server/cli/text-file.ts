import { readFile } from 'node:fs/promises'
import { CommandError, EXIT } from './command.ts'

/** Reads a file of UTF-8 text. @throws CommandError with exit code 2 for a file that cannot be read */
export async function readTextFile(file: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file))
  } catch (error) {
    const { code } = error as { code?: string }
    const why =
      code === 'ENOENT' ? 'is not there' : code === 'EISDIR' ? 'is a folder' : UNREADABLE_REASONS[code ?? '']
    throw new CommandError(`${file} ${why ?? `cannot be read (${code ?? 'unknown'})`}`, EXIT.usage)
  }
}

const UNREADABLE_REASONS: Record<string, string> = {
  EACCES: 'may not be read',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'is not UTF-8',
}
