import { tableAddress } from '../../lib/router.ts'

/** Kinds of the catalog; others are outside of it, and have no page. */
const KINDS_WITH_PAGE = [
  'table',
  'view',
  'materialized_view',
  'external_table',
  'foreign_table',
  'partitioned_table',
]

/** Whether things of a kind are in the catalog, and so have a page. */
export const hasPage = (kind: string): boolean => KINDS_WITH_PAGE.includes(kind)

/** The name of a table, which leads to its page, or of a thing outside the catalog, which may have an address elsewhere. */
export function AssetName({
  of: { name, qualified_name: whole, url },
  isTable,
}: {
  of: { name: string; qualified_name: string; url: string | null }
  isTable: boolean
}) {
  if (isTable)
    return (
      <a href={tableAddress(whole)} title={whole}>
        <bdi>{name}</bdi>
      </a>
    )
  return url ? (
    <a href={url} target="_blank" rel="noreferrer">
      <bdi>{name}</bdi>
    </a>
  ) : (
    <bdi>{name}</bdi>
  )
}
