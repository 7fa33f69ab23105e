import type { Check } from '../parts/check-cells.tsx'
import { scopeTexts } from './scope-texts.ts'

/** Which rows a check is about, in words; nothing where it is about all rows of its table. */
export function Scope({ check }: { check: Check }) {
  const { filter, window, time_column: column, window_delay: delay, revisit } = check
  return (
    <>
      {filter && (
        <p>
          {scopeTexts.rowsWhere}{' '}
          <code>
            <bdi>{filter}</bdi>
          </code>
        </p>
      )}
      {window && (
        <p>
          {scopeTexts.bucketOf(window)}{' '}
          <code>
            <bdi>{column}</bdi>
          </code>
          {delay && `, ${scopeTexts.delay(delay)}`}, {scopeTexts.revisit(revisit ?? null)}
        </p>
      )}
    </>
  )
}
