import { formatName, parseName } from '../../../connectors/catalog.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { nearest } from '../../../server/http/nearest.ts'
import { nearTables } from '../discovery/near-tables.ts'
import { Source } from '../models.ts'

/** Sources whose names are compared. */
const MAX_SOURCES = 1_000

/** The qualified names of the company's assets that are nearest to one that no asset has. */
export async function nearAssets(trx: Transaction, name: string): Promise<string[]> {
  const [sourceName = '', ...path] = parseName(name) ?? []
  if (path.length === 0) {
    const sources = await Source.query(trx).select('name').orderBy('name').limit(MAX_SOURCES)
    return nearest(
      sourceName,
      sources.map(source => source.name),
    ).map(near => formatName([near]))
  }
  const source = await Source.query(trx).findOne('name', sourceName)
  const tables = source ? await nearTables(trx, source, path.at(-1) ?? '') : []
  return tables.map(table => `${formatName([sourceName])}.${table}`)
}
