import { useData } from '../../lib/data.ts'
import { countOf } from '../../lib/format.ts'
import { html, type Children } from '../../lib/html.ts'
import { useInView } from '../../lib/in-view.ts'
import { tableAddress } from '../../lib/router.ts'
import { Loaded } from '../../parts/states.ts'
import { loadReach, type Incident } from './requests.ts'
import { incidentTexts as texts } from './texts.ts'

type ReachReply = Awaited<ReturnType<typeof loadReach>>

/** Names of each kind that are shown; the lineage has all. */
const MAX_NAMED = 12

/** What is made from the table of the cause, by column where its alert is about one, and who owns it. */
export function Reach({ incident: { root_cause: cause, alerts } }: { incident: Incident }) {
  const [ref, wasInView] = useInView<HTMLElement>()
  // A failed run has no alert; then the first one that came of it says what is hit. A merged one has no alerts at all.
  const alertId = cause.alert_id ?? alerts[0]?.id
  const asked = useData<ReachReply>(wasInView && alertId ? `reach of ${alertId}` : null, signal =>
    loadReach(alertId!, signal),
  )
  if (!alertId) return null
  return html`<section ref=${ref} class="incident-reach">
    <h2>${texts.reach}</h2>
    ${
      wasInView &&
      html`<${Loaded} of=${asked} what=${texts.reach.toLowerCase()} rows=${3}>
        ${(reach: ReachReply) => html`<${ReachLists} reach=${reach} cause=${cause} />`}
      <//>`
    }
  </section>`
}

function ReachLists({ reach, cause }: { reach: ReachReply; cause: Incident['root_cause'] }) {
  const { tables, dashboards, owners, is_complete: isComplete } = reach
  const address = tableAddress(cause.qualified_name, 'lineage')
  return html`<dl class="reach">
      <${Kind} name=${countOf(tables.length, 'table')} rest=${tables.length - MAX_NAMED} address=${address}>
        ${tables
          .slice(0, MAX_NAMED)
          .map(
            ({ id, name, qualified_name: whole }) =>
              html`<a key=${id} href=${tableAddress(whole)} title=${whole}><bdi>${name}</bdi></a>`,
          )}
      <//>
      <${Kind}
        name=${countOf(dashboards.length, 'dashboard')}
        rest=${dashboards.length - MAX_NAMED}
        address=${address}
      >
        ${dashboards
          .slice(0, MAX_NAMED)
          .map(({ id, name, url }) =>
            url
              ? html`<a key=${id} href=${url} target="_blank" rel="noreferrer"><bdi>${name}</bdi></a>`
              : html`<bdi key=${id}>${name}</bdi>`,
          )}
      <//>
      <${Kind} name=${countOf(owners.length, 'owner')} rest=${owners.length - MAX_NAMED} address=${address}>
        ${owners
          .slice(0, MAX_NAMED)
          .map(
            ({ name, email, assets }) =>
              html`<span key=${`${name} ${email}`}
                ><bdi>${name}</bdi> <span class="quiet">${texts.owns(assets)}</span></span
              >`,
          )}
      <//>
    </dl>
    ${!isComplete && html`<p class="quiet">${texts.notFollowed}</p>`}`
}

/** How many there are of a kind, and their names. */
function Kind({
  name,
  rest,
  address,
  children,
}: {
  name: string
  rest: number
  address: string
  children: Children
}) {
  return html`<div>
    <dt>${name}</dt>
    <dd>${children}${rest > 0 && html`<a href=${address}>${texts.moreNames(rest)}</a>`}</dd>
  </div>`
}
