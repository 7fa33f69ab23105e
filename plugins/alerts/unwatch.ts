import type { Server } from '@hapi/hapi'
import type { Transaction } from '../../server/database.ts'
import type { Unwatched } from './api.ts'
import { Alert, OPEN } from './models.ts'
import { close } from './resolve.ts'

/** What the history of an alert says when nobody looks any more at what it spoke of. */
const REASON = 'It is no longer watched'

/** Resolves the open alerts of what is no longer watched, and sends `alert.resolved` for each. @returns how many */
export async function unwatch(server: Server, trx: Transaction, what: Unwatched): Promise<number> {
  const open = Alert.query(trx).select('id', 'status').whereRaw(OPEN)
  if ('causes' in what) {
    if (what.causes.length === 0) return 0
    void open.where({ kind: what.type }).whereRaw('cause = any(cast(? as text[]))', [[...what.causes]])
  } else {
    if (what.types) void open.whereRaw('kind = any(cast(? as text[]))', [[...what.types]])
    if ('sourceId' in what) void open.where({ sourceId: what.sourceId })
    else if (what.assetIds.length === 0) return 0
    else void open.whereRaw('asset_id = any(cast(? as uuid[]))', [[...what.assetIds]])
  }
  // In the order in which raising locks them.
  const held = await open.orderByRaw('kind collate "C", cause collate "C"').forUpdate()
  await close(server, trx, held, () => ({ actor: 'system', reason: REASON }))
  return held.length
}
