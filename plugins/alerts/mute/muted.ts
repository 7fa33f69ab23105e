import type { Transaction } from '../../../server/database/database.ts'
import type { Alert } from '../models.ts'
import { MuteWindow } from './models.ts'
import { endOfWindow, endOfWindows } from './times.ts'

/** Until when no message about an alert is sent; null if messages are sent now. */
export type MutedUntil = (alert: Pick<Alert, 'assetId' | 'sourceId' | 'event'>) => Date | null

/** Reads the windows that are open now. */
export async function loadMutes(trx: Transaction): Promise<MutedUntil> {
  const now = new Date()
  const windows = await MuteWindow.query(trx).where({ isActive: true })
  // Those that open before the others close matter too.
  if (!windows.some(window => endOfWindow(window, now))) return () => null
  return alert =>
    endOfWindows(
      windows.filter(window => selects(window, alert)),
      now,
    )
}

/** Whether all filters of a window select an alert. */
export function selects(
  { assetIds, schemas, tags }: Pick<MuteWindow, 'assetIds' | 'schemas' | 'tags'>,
  { assetId, sourceId, event: { asset } }: Parameters<MutedUntil>[0],
): boolean {
  return (
    (!assetIds || assetIds.some(id => id === assetId || id === sourceId)) &&
    (!schemas || schemas.some(schema => asset.qualified_name.startsWith(`${schema}.`))) &&
    (!tags || tags.some(tag => asset.tags.includes(tag)))
  )
}
