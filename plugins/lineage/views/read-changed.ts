/** Reads definitions of views in threads: text of customers' databases is never parsed where people are served. */
import type { Logger } from 'pino'
import { formatName } from '../../../connectors/catalog.ts'
import type { ViewDefinition } from '../../../connectors/connector.ts'
import {
  MODULE_EXTENSION,
  TextLimitError,
  textTask,
  type TextPool,
} from '../../../server/text-pool/text-pool.ts'
import type { TableName } from './columns.ts'
import type { WordRules } from './sql-words.ts'
import type { NamedTable } from './table-index.ts'
import type { TableWords } from './table-words.ts'
import type { PackedView, readNamesOf, readViewBatch } from './view-batch.ts'

/** A view whose definition or tables changed since it was read. */
interface ChangedView {
  view: ViewDefinition
  /** As the catalog has it. */
  table: NamedTable
}

/**
 * What a definition says; `names` of one that is too large for the rest; null where even these take too long, so that
 * what was known before stays.
 */
export type ReadingOfView = { packed: PackedView } | { names: TableName[] | null }

interface ReadOptions {
  pool: TextPool
  log: Logger
  companyId: string
  sourceId: string
  words: TableWords
  isPostgresql: boolean
  rules: WordRules
  signal: AbortSignal
}

const module = new URL(`./view-batch.${MODULE_EXTENSION}`, import.meta.url)
const batchTask = textTask<typeof readViewBatch>(module, 'readViewBatch')
const namesTask = textTask<typeof readNamesOf>(module, 'readNamesOf')

/** For a definition: one of 1,500 unions of 40 columns takes half a second and 130 MiB. */
const LIMITS = { cpuMs: 5_000, megabytes: 768 }
/** For the names in one: those in a million characters take a second. */
const LIMITS_OF_NAMES = { cpuMs: 3_000, megabytes: 768 }
/** Longest definition that is parsed: that of 1,500 unions of 40 columns is half as long. */
const MAX_CHARACTERS = 2_000_000
/** Columns of all tables whose names occur in a definition. */
const MAX_COLUMNS = 200_000
/** What one task is given: copying it to the thread takes 10 ms. */
const MAX_OF_BATCH = { views: 500, characters: 500_000, columns: 100_000 }
/** Definitions that take too long, after which the rest waits for the next discovery: these are not read again then. */
const MAX_GIVEN_UP = 5
const MAX_NAMED = 5

interface Batch {
  views: ChangedView[]
  tables: Map<string, NamedTable>
  characters: number
  columns: number
}

const emptyBatch = (): Batch => ({ views: [], tables: new Map(), characters: 0, columns: 0 })

/** Reads views that changed. One that takes too long or too much memory keeps none of the others from being read. */
export class ChangedViewReader {
  readonly readings: (ChangedView & { reading: ReadingOfView })[] = []
  readonly #options: ReadOptions
  readonly #tooLarge: string[] = []
  #batch = emptyBatch()
  #givenUp = 0

  constructor(options: ReadOptions) {
    this.#options = options
  }

  /** Whether no further definition is read by this discovery. */
  get isOver(): boolean {
    return this.#givenUp >= MAX_GIVEN_UP
  }

  async add(changed: ChangedView): Promise<void> {
    const definition = changed.view.definition ?? ''
    if (definition.length > MAX_CHARACTERS) return this.#readNames(changed)
    const tables = await this.#options.words.findIn(definition)
    const columns = countColumns(tables.values())
    if (columns > MAX_COLUMNS) return this.#readNames(changed)
    const batch = this.#batch
    batch.views.push(changed)
    batch.characters += definition.length
    for (const [path, table] of tables) {
      if (!batch.tables.has(path)) batch.columns += table.columns.length
      batch.tables.set(path, table)
    }
    const isFull =
      batch.views.length >= MAX_OF_BATCH.views ||
      batch.characters >= MAX_OF_BATCH.characters ||
      batch.columns >= MAX_OF_BATCH.columns
    if (isFull) await this.#flush()
  }

  /** Reads what is left, and says in the log what was too large. */
  async end(): Promise<void> {
    await this.#flush()
    if (this.#tooLarge.length === 0) return
    const { log, sourceId } = this.#options
    const fields = {
      source_id: sourceId,
      count: this.#tooLarge.length,
      views: this.#tooLarge.slice(0, MAX_NAMED),
    }
    log.warn(fields, 'definitions of views are too large to read: their columns are not known')
  }

  async #flush(): Promise<void> {
    const { views, tables } = this.#batch
    this.#batch = emptyBatch()
    const sent = [...tables.values()].map(({ catalog, schema, name, columns }) => ({
      catalog,
      schema,
      name,
      columns: columns.map(column => column.name),
    }))
    const left = [views]
    for (let part = left.shift(); part; part = left.shift()) {
      if (part.length === 0 || this.isOver) continue
      const progress = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
      const read = await this.#run(part, sent, progress)
      if (Array.isArray(read)) {
        for (const [index, packed] of read.entries())
          this.readings.push({ ...part[index]!, reading: { packed } })
        left.unshift(part.slice(read.length))
        continue
      }
      const at = Math.min(Atomics.load(progress, 0), part.length - 1)
      // Objects of the views before it may be what was too much memory: then it is read by itself.
      const isItself = read.over === 'time' || part.length === 1
      if (isItself) await this.#giveUp(part[at]!)
      left.unshift(part.slice(0, at), isItself ? [] : part.slice(at, at + 1), part.slice(at + 1))
    }
  }

  /** @returns the readings of the first views, or the limit that they exceed */
  #run(
    part: readonly ChangedView[],
    tables: Parameters<typeof readViewBatch>[0]['tables'],
    progress: Int32Array,
  ): Promise<PackedView[] | Excess> {
    const { pool, isPostgresql, rules } = this.#options
    const views = part.map(({ view, table }) => ({ view, columns: table.columns.map(({ name }) => name) }))
    const input = { tables, isPostgresql, rules, views, progress }
    return pool.run(batchTask, input, { ...LIMITS, ...this.#turn() }).catch(excessOf)
  }

  #giveUp(changed: ChangedView): Promise<void> {
    this.#givenUp++
    return this.#readNames(changed)
  }

  async #readNames(changed: ChangedView): Promise<void> {
    const { schema, name, definition } = changed.view
    this.#tooLarge.push(formatName([schema, name]))
    const limits = { ...LIMITS_OF_NAMES, ...this.#turn() }
    const { pool, rules } = this.#options
    const input = { definition: definition ?? '', rules }
    const names = await pool.run(namesTask, input, limits).catch(excessOf)
    if (!Array.isArray(names)) this.#givenUp++
    this.readings.push({ ...changed, reading: { names: Array.isArray(names) ? names : null } })
  }

  #turn() {
    const { companyId: owner, signal } = this.#options
    return { owner, maxWaiting: Infinity, isBackground: true, signal }
  }
}

interface Excess {
  over: TextLimitError['limit']
}

/** @throws what is no limit */
function excessOf(error: unknown): Excess {
  if (!(error instanceof TextLimitError)) throw error
  return { over: error.limit }
}

function countColumns(tables: Iterable<NamedTable>): number {
  let count = 0
  for (const { columns } of tables) count += columns.length
  return count
}
