import { tablePath } from '../../../connectors/catalog.ts'
import { makePauses } from '../../../server/pauses.ts'
import type { NamedTable } from './table-index.ts'

const WORD = /[\p{L}\p{N}_$]+/gu

/**
 * Finds the tables that a definition may name by the words in it, without reading its grammar: so few of all tables are
 * copied to the thread that does.
 */
export class TableWords {
  /** By the first word of the name. */
  readonly #byWord = new Map<string, { table: NamedTable; words: string[] }[]>()
  /** Tables whose name has no word. */
  readonly #others: NamedTable[] = []

  add(table: NamedTable): void {
    const words = table.name.toLowerCase().match(WORD) ?? []
    const [first] = words
    if (first === undefined) {
      this.#others.push(table)
      return
    }
    const same = this.#byWord.get(first)
    if (same) same.push({ table, words })
    else this.#byWord.set(first, [{ table, words }])
  }

  /** @returns by path, all tables that the text names, and maybe others */
  async findIn(text: string, pause = makePauses()): Promise<Map<string, NamedTable>> {
    const words = new Set<string>()
    for (const [word] of text.toLowerCase().matchAll(WORD)) {
      words.add(word)
      await pause()
    }
    const found = new Map(this.#others.map(table => [tablePath(table), table]))
    for (const word of words) {
      for (const { table, words: all } of this.#byWord.get(word) ?? [])
        if (all.every(each => words.has(each))) found.set(tablePath(table), table)
      await pause()
    }
    return found
  }
}
