import { useState } from 'preact/hooks'
import { countOf, formatNumber } from '../../lib/format.ts'
import { watchTexts, type BackfillCost } from '../../texts/watching.ts'
import { useAction } from '../../lib/action.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { notify } from '../../parts/notices.tsx'
import { texts } from '../../texts.ts'
import { recommendationTexts } from './texts.ts'
import {
  applyRecommendations,
  dismissRecommendations,
  restoreRecommendations,
  type Recommendation,
} from './requests.ts'

/** What can be done with the selected recommendations. */
export function SelectionActions({
  targets,
  changed,
}: {
  targets: readonly Recommendation[]
  changed: () => void
}) {
  const ids = targets.map(({ id }) => id)
  const isIn = (...statuses: Recommendation['status'][]) =>
    targets.some(({ status }) => statuses.includes(status))
  const [isApplying, apply] = useAction(recommendationTexts.apply, async () => {
    const { created_count: count } = await applyRecommendations({ ids })
    notify(recommendationTexts.applied(count))
    changed()
  })
  const [isDismissing, dismiss] = useAction(recommendationTexts.dismiss, async () => {
    notify(`Dismissed ${countOf(await dismissRecommendations(ids), 'recommendation')}.`)
    changed()
  })
  const [isRestoring, restore] = useAction(recommendationTexts.restore, async () => {
    notify(recommendationTexts.restored(await restoreRecommendations(ids)))
    changed()
  })
  const isBusy = isApplying || isDismissing || isRestoring
  return (
    <span class="actions">
      {isIn('offered', 'dismissed', 'removed') && (
        <button class="primary" disabled={isBusy} onClick={apply}>
          {isApplying ? recommendationTexts.applying : recommendationTexts.apply}
        </button>
      )}
      {isIn('offered', 'removed', 'noisy') && (
        <button disabled={isBusy} onClick={dismiss}>
          {recommendationTexts.dismiss}
        </button>
      )}
      {isIn('dismissed') && (
        <button disabled={isBusy} onClick={restore}>
          {recommendationTexts.restore}
        </button>
      )}
    </span>
  )
}

type AllOf = Parameters<typeof applyRecommendations>[0]

/** A button that creates everything that matches, after it said what that costs. */
export function ApplyAll({ count, all, changed }: { count: number; all: AllOf; changed: () => void }) {
  const [tried, setTried] = useState<{ checks: number; statements: number; past: BackfillCost }>()
  const [isBackfilled, setBackfilled] = useState(true)
  const name = `Create all ${formatNumber(count)}`
  const [isTrying, ask] = useAction(name, async () => {
    const { created_count: checks, cost, backfill: past } = await applyRecommendations(all, true)
    setTried({ checks, statements: cost.statements_per_day, past })
  })
  const [isApplying, apply] = useAction(name, async () => {
    const { created_count: created } = await applyRecommendations({ ...all, backfill: isBackfilled })
    setTried(undefined)
    notify(recommendationTexts.applied(created))
    changed()
  })
  return (
    <>
      <button disabled={isTrying} onClick={ask}>
        {name}
      </button>{' '}
      {tried && (
        <Dialog title="Create all that match" close={() => setTried(undefined)}>
          <p>{recommendationTexts.applyAllText(tried.checks, tried.statements)}</p>
          {tried.past.statements > 0 && (
            <>
              <label>
                <input
                  type="checkbox"
                  checked={isBackfilled}
                  onChange={(event: Event) => setBackfilled((event.target as HTMLInputElement).checked)}
                />
                {watchTexts.backfill}
              </label>
              <p class="quiet">{watchTexts.backfillCost(tried.past)}</p>
            </>
          )}
          <p class="actions">
            <button onClick={() => setTried(undefined)}>{texts.cancel}</button>
            <button class="primary" disabled={isApplying} onClick={apply}>
              {isApplying ? recommendationTexts.applying : recommendationTexts.apply}
            </button>
          </p>
        </Dialog>
      )}
    </>
  )
}
