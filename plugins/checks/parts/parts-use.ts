import type { PartsUse } from '../../../checks/scan-parts.ts'

/** What was read of the parts of tables, as replies have it. */
export interface PartsUseReply {
  total: number
  read: number
  rows_read: number
  rows_known: number
}

/** Presents what was read of the parts of tables. */
export function presentPartsUse({ parts, read, rowsRead, rowsKnown }: PartsUse): PartsUseReply {
  return { total: parts, read, rows_read: rowsRead, rows_known: rowsKnown }
}
