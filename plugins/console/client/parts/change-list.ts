import { useAction } from '../lib/action.ts'
import { api } from '../lib/api.ts'
import type { Data } from '../lib/data.ts'
import { inWords } from '../lib/format.ts'
import { html } from '../lib/html.ts'
import { changeQuery, tableAddress, useQuery } from '../lib/router.ts'
import { canWrite } from '../lib/session.ts'
import { texts } from '../texts.ts'
import { lazy } from './lazy.ts'
import { Status } from './status.ts'
import { Ago } from './time.ts'

/** A schema change as the API lists it. */
export type SchemaChange = Awaited<
  ReturnType<typeof api.get<'/api/v1/sdk/schema/changes'>>
>['data']['data'][number]

const ChangeImpact = lazy(async () => (await import('../screens/impact/change-impact.ts')).ChangeImpact)

/** Schema changes, newest first, each with what was before beside what is now; one is opened with what it hits. */
export function ChangeList({
  changes,
  withTable = false,
  accepted,
}: {
  changes: readonly SchemaChange[]
  withTable?: boolean
  accepted: (id: string) => void
}) {
  const [query] = useQuery()
  const openId = query.get('change')
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${texts.changes}>
    <table class="changes">
      <thead>
        <tr>
          <th scope="col">${texts.change}</th>
          ${withTable && html`<th scope="col">${texts.table}</th>`}
          <th scope="col">${texts.before}</th>
          <th scope="col">${texts.after}</th>
          <th scope="col">${texts.impact}</th>
          <th scope="col">${texts.found}</th>
          <th scope="col"><span class="hidden">${texts.accept}</span></th>
        </tr>
      </thead>
      <tbody>
        ${changes.map(change => [
          html`<tr key=${change.id} class=${change.id === openId ? 'chosen' : ''}>
            <th scope="row">
              <button
                class="link"
                title=${texts.whatItHits}
                aria-expanded=${change.id === openId}
                onClick=${() => changeQuery({ change: change.id === openId ? null : change.id })}
              >
                <span
                  >${inWords(change.change_type)} <code><bdi>${change.object_name}</bdi></code></span
                >
              </button>
            </th>
            ${
              withTable &&
              html`<td>
                <a href=${tableAddress(change.qualified_name, 'changes')}
                  ><bdi>${change.qualified_name}</bdi></a
                >
              </td>`
            }
            <td><${Definition} text=${change.old_value} className="removed" /></td>
            <td><${Definition} text=${change.new_value} className="added" /></td>
            <td><${Status} status=${change.impact} /></td>
            <td><${Ago} at=${change.detected_at} /></td>
            <td class="right"><${Accept} change=${change} accepted=${accepted} /></td>
          </tr>`,
          change.id === openId &&
            html`<tr key=${`${change.id} impact`}>
              <td colspan=${withTable ? 7 : 6}><${ChangeImpact} change=${change} /></td>
            </tr>`,
        ])}
      </tbody>
    </table>
  </div>`
}

function Definition({ text, className }: { text: string | null; className: string }) {
  return text === null
    ? html`<span class="quiet">–</span>`
    : html`<code class=${className}><bdi>${text}</bdi></code>`
}

function Accept({ change, accepted }: { change: SchemaChange; accepted: (id: string) => void }) {
  const [isBusy, accept] = useAction(texts.accept, async () => {
    await api.post('/api/v1/sdk/schema/changes/{change_id}/acknowledge', { path: { change_id: change.id } })
    accepted(change.id)
  })
  if (change.acknowledged)
    return html`<span class="quiet">${texts.accepted} <${Ago} at=${change.acknowledged_at} /></span>`
  if (!canWrite()) return null
  return html`<button class="small" disabled=${isBusy} onClick=${accept}>${texts.accept}</button>`
}

/** Shows a change as accepted without asking for the list again. */
export function markAccepted<L extends { changes: SchemaChange[] }>(list: Data<L>, id: string): void {
  const at = new Date().toISOString()
  list.update(data => ({
    ...data,
    changes: data.changes.map(change =>
      change.id === id ? { ...change, acknowledged: true, acknowledged_at: at } : change,
    ),
  }))
}
