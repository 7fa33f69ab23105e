import type { Table } from 'tidemark/client'
import { api } from '../lib/api.ts'
import { useData, useDebounced } from '../lib/data.ts'

const TYPING_MS = 300

/**
 * The tables of a source that a person may mean by what is written so far, and the columns of the one that is meant.
 * @param source null while nothing is to be looked up
 */
export function useOtherTable(source: string | null, path: string) {
  const search = useDebounced(path.split('.').at(-1)!.trim(), TYPING_MS)
  const tables = useData(source === null ? null : `tables ${source} ${search}`, async signal => {
    const query = { source: source!, limit: 20, ...(search && { search }) }
    const { data } = await api.get('/api/v1/assets', { query, signal })
    return data.flatMap(asset => ('table_path' in asset ? [asset as Table] : []))
  })
  const found = tables.data?.find(
    ({ table_path: full }) => path !== '' && (full === path || full.endsWith(`.${path}`)),
  )
  const columns = useData(found ? `columns ${found.id}` : null, async signal => {
    const { data } = await api.get('/api/v1/sdk/assets/{asset_id}', { path: { asset_id: found!.id }, signal })
    return ((data as Table).columns ?? []).map(({ name }) => name)
  })
  return {
    paths: (tables.data ?? []).map(({ table_path: full }) => full),
    columns: (found && columns.data) ?? [],
  }
}
