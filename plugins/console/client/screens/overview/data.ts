import { api } from '../../lib/api.ts'
import { zone } from '../../lib/format.ts'
import { withQuery } from '../../lib/router.ts'

/** What happened in the last 30 days of the user's zone, and what is open. @param source its id; by default all of them */
export const loadOverview = async (signal: AbortSignal, source?: string) => {
  const query = { timezone: zone(), ...(source !== undefined && { asset_id: source }) }
  return (await api.get('/api/v1/sdk/health/overview', { query, signal })).data
}
export type OverviewData = Awaited<ReturnType<typeof loadOverview>>
export type OverviewSource = OverviewData['sources'][number]
export type Dimension = keyof OverviewSource['open']

/** In the order in which bars and columns have them. */
export const DIMENSIONS = ['freshness', 'volume', 'schema', 'validity', 'contracts', 'pipelines'] as const

/** What the address of a list says to leave out routine alerts, as overviews do. */
export const ANY_DIMENSION = 'any'

/** The list of alerts with filters of its address. */
export const alertsAddress = (filters: Record<string, string | null>) => withQuery('/alerts', filters)
