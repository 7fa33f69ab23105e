import { useData } from '../../lib/data.ts'
import { html } from '../../lib/html.ts'
import { tableAddress } from '../../lib/router.ts'
import { Loaded } from '../../parts/states.ts'
import { incidentTexts as texts } from './texts.ts'
import { AffectedLists } from '../impact/dependents.ts'
import { loadAffected, type Incident } from './requests.ts'

type Reach = Awaited<ReturnType<typeof loadAffected>>

/** What is made from the table that is named as the cause, by column where its alert is about one, and who owns it. */
export function Affected({ incident: { root_cause: cause, alerts } }: { incident: Incident }) {
  // A failed run has no alert; then the first one that came of it says what is hit.
  const alertId = cause.alert_id ?? alerts[0]?.id
  const asked = useData(alertId ? `impact of alert ${alertId}` : null, signal =>
    loadAffected(alertId!, signal),
  )
  // One that was merged into another has no alerts any more.
  if (!alertId) return null
  return html`<section>
    <h2>${texts.affected}</h2>
    <${Loaded} of=${asked} what=${texts.affected.toLowerCase()} rows=${3}>
      ${(reach: Reach) =>
        html`<p>${reach.sentence}.</p>
          <${AffectedLists} of=${reach} />
          <p class="actions above">
            <a class="button small" href=${tableAddress(cause.qualified_name, 'lineage')}>See the lineage</a>
          </p>`}
    <//>
  </section>`
}
