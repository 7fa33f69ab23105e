/** What is wrong with files, all of it together. */
import { hasErrorData, invalidInput, type InputError } from '../../server/http/errors.ts'
import { formatFault, type FileFault } from './file/monitors-file.ts'
import type { ReadFile } from './file/read-file.ts'

const MAX_ERRORS = 100

/** Collects faults of files, and throws them all together, so that nothing of faulty files is applied. */
export class FaultList {
  readonly #faults: FileFault[] = []

  add(file: ReadFile, path: readonly string[], message: string, candidates: readonly string[] = []): void {
    const { line, column } = file.positionOf(path) ?? { line: null, column: null }
    const more = candidates.length > 0 ? { candidates: [...candidates] } : {}
    this.#faults.push({ file: file.name, line, column, field: path.join('.'), message, ...more })
  }

  /** Adds what an error says of the fields of a check. @throws the error, unless it is one of input */
  addError(check: { file: ReadFile; at: readonly string[] }, error: unknown, at = check.at): void {
    if (!hasErrorData(error) || error.output.statusCode >= 500) throw error
    const { errors } = (error.data?.details ?? {}) as { errors?: InputError[] }
    const faults = errors ?? [{ field: 'body', error: error.message }]
    for (const { field, error: message, candidates } of faults) {
      const inner = field === 'body' || field === 'table_path' ? [] : field.split('.')
      this.add(check.file, [...at, ...inner], message, candidates)
    }
  }

  /** Whether a reply has no room for more. */
  get isFull(): boolean {
    return this.#faults.length >= MAX_ERRORS
  }

  /** @throws 400 `VALIDATION_ERROR` if there is any */
  throwIfAny(): void {
    if (this.#faults.length > 0) throw faultsError(this.#faults)
  }
}

/** The 400 for faulty files. Each error names its place as its field: `monitors/shop.yaml:12:9`, or `tables.orders`. */
export function faultsError(faults: readonly FileFault[]): Error {
  const errors = faults.slice(0, MAX_ERRORS).map((fault): InputError => {
    const { file, line, column, field, candidates } = fault
    const place = line === null ? field || 'body' : `${file}:${line}:${column}`
    return { field: place, error: formatFault(fault), ...(candidates && { candidates }) }
  })
  return invalidInput(errors, {}, faults.length - errors.length)
}
