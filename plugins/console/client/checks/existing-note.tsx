import { tableAddress, withQuery } from '../lib/router.ts'
import { tuningTexts } from './texts.ts'
import type { ExistingCheck } from './requests.ts'
import { Status } from '../parts/status.tsx'

/** Which equal check is there already, with the ways to it. */
export function ExistingNote({
  check: { id, title, asset_id: table, is_active: isActive },
}: {
  check: ExistingCheck
}) {
  const page = tableAddress(table)
  return (
    <>
      <p>
        <bdi>{title}</bdi>
        {!isActive && (
          <>
            {' '}
            <Status status="paused" />
          </>
        )}
      </p>
      <p class="actions">
        <a class="button small" href={withQuery(page, { check: id })}>
          {tuningTexts.open}
        </a>
        <a class="button small" href={withQuery(page, { edit: id })}>
          {tuningTexts.edit}
        </a>
      </p>
    </>
  )
}
