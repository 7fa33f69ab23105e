import type { CheckDeps } from '../deps.ts'
import { hasErrorData } from '../../../server/http/errors.ts'

/** What became of each column, in their order. */
export interface ColumnResults {
  results: (
    | { column_name: string; status: 'created'; id: string; error: null }
    | { column_name: string; status: 'failed'; id: null; error: string }
  )[]
  created: number
  failed: number
  total: number
}

/**
 * Creates one check for each of several columns, one after the other. A column that is refused fails alone.
 * @param create makes one and returns its id
 * @throws what the first column was refused for, when all were and it is no fault of the column: then it is of the request
 */
export async function createForColumns(
  { catalog, db }: Pick<CheckDeps, 'catalog' | 'db'>,
  companyId: string,
  assetId: string,
  columns: readonly string[],
  create: (column: string) => Promise<string>,
): Promise<ColumnResults> {
  // An unknown asset is an error of the request, not of each column.
  await db.company(companyId, trx => catalog.findAsset(trx, assetId))
  const results: ColumnResults['results'] = []
  let shared: Error | undefined
  for (const column of columns) {
    try {
      results.push({ column_name: column, status: 'created', id: await create(column), error: null })
    } catch (error) {
      if (!hasErrorData(error)) throw error
      if (error.data?.details?.field !== 'column_name') shared ??= error
      results.push({ column_name: column, status: 'failed', id: null, error: error.message })
    }
  }
  const created = results.filter(({ status }) => status === 'created').length
  if (created === 0 && shared !== undefined) throw shared
  return { results, created, failed: results.length - created, total: results.length }
}
