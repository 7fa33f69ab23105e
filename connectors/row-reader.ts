import type { Row, Value } from './connector.ts'

const OWN_PROPERTY = { enumerable: true, configurable: true, writable: true }

/** A column of a result, and what makes a value of what arrives for it. */
export interface ReadableColumn<Cell> {
  name: string
  read(cell: Cell): Value
}

/** Makes rows of lists of cells; of columns with the same name the last one remains. */
export function makeRowReader<Cell>(
  columns: readonly ReadableColumn<Cell>[],
): (cells: readonly (Cell | null | undefined)[]) => Row {
  return cells => {
    const row: Row = {}
    // Called for every row: an iterator with its pairs would be most of the garbage of a big result.
    for (let index = 0; index < columns.length; index += 1) {
      const { name, read } = columns[index] as ReadableColumn<Cell>
      const cell = cells[index] ?? null
      const value = cell === null ? null : read(cell)
      // An assignment to __proto__ would not make a column of it.
      if (name === '__proto__') Object.defineProperty(row, name, { ...OWN_PROPERTY, value })
      else row[name] = value
    }
    return row
  }
}

/** An integer within 2^53 as number, a larger one as its text. */
export function readInteger(text: string): Value {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : text
}

/** JSON as what it holds; a text that is not JSON, as some engines write a date or a missing element, stays text. */
export function readJson(text: string): Value {
  try {
    return JSON.parse(text) as Value
  } catch {
    return text
  }
}
