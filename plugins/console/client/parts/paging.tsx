import { changeQuery } from '../lib/router.ts'
import type { Preferences } from '../lib/session.ts'
import { texts } from '../texts.ts'

export interface PageOfList {
  total: number
  limit: number
  offset: number
  has_more: boolean
}

/** The longest page that all lists of the API give. */
const MAX_PAGE = 100

/** How many records a page of a list has, as the user prefers. */
export const pageSizeOf = (preferences: Preferences | null): number =>
  Math.min(MAX_PAGE, preferences?.table_page_size ?? 50)

/** The place of a page in its list, as the address has it; 0 for what is no such number. */
export function readOffset(query: URLSearchParams): number {
  const offset = Number(query.get('offset'))
  return Number.isSafeInteger(offset) && offset > 0 ? offset : 0
}

/** Which records of a list are shown, and the pages before and after; the page stands in the address. */
export function Paging({ pagination: { total, limit, offset, has_more } }: { pagination: PageOfList }) {
  if (total <= limit && offset === 0) return null
  const go = (to: number) => changeQuery({ offset: to > 0 ? String(to) : null }, { replace: false })
  return (
    <nav class="paging" aria-label="Pages of the list">
      <span>{texts.rangeOf(offset + 1, Math.min(offset + limit, total), total)}</span>
      <button disabled={offset === 0} onClick={() => go(Math.max(0, offset - limit))}>
        {texts.previous}
      </button>
      <button disabled={!has_more} onClick={() => go(offset + limit)}>
        {texts.next}
      </button>
    </nav>
  )
}
