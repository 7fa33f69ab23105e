import { formatTime } from '../../lib/format.ts'
import { Shape, toneOf } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import { nameOfAssignee } from '../timeline/assignee.ts'
import { IncidentActions } from './incident-actions.tsx'
import { ownersOf } from './owners.ts'
import type { Incident } from './requests.ts'
import { incidentTexts as texts } from './texts.ts'

/** What it is, how it stands, who has it, and what can be done. */
export function IncidentHeader({ incident, reload }: { incident: Incident; reload: () => void }) {
  const { number, title, severity, status, assignee, merged_into: into } = incident
  return (
    <header class="incident-head">
      <h1>
        <Shape tone={toneOf(severity)} />
        <span class="hidden">{severity}: </span>
        {number !== null && (
          <>
            <span class="quiet">{texts.numbered(number)}</span>{' '}
          </>
        )}
        <bdi>{title}</bdi>
      </h1>
      <p class="facts">
        <span class={`chip state-${status}`}>{texts.states[status]}</span>
        {status === 'snoozed' && <span class="quiet">{texts.until(formatTime(incident.snoozed_until))}</span>}
        <span>
          {texts.opened} <Ago at={incident.created_at} />
        </span>
        {incident.minutes_to_resolve !== null && (
          <span>{texts.resolvedAfter(texts.span(incident.minutes_to_resolve))}</span>
        )}
        <span>
          <span class="quiet">{texts.owner}:</span> <Owners incident={incident} />
        </span>
        <span>
          <span class="quiet">{texts.assignee}:</span> <bdi>{nameOfAssignee(assignee)}</bdi>
        </span>
      </p>
      <IncidentActions incident={incident} reload={reload} />
      {into && (
        <p>
          {texts.isMerged}{' '}
          <a class="button small" href={`/incidents/${into}`}>
            {texts.openOther}
          </a>
        </p>
      )}
    </header>
  )
}

/** Whom to ask: the owners of the cause, or else of what it hits. */
function Owners({ incident }: { incident: Incident }) {
  const { names, hit } = ownersOf(incident)
  if (names.length === 0) return <span class="quiet">{texts.noOwner}</span>
  return (
    <>
      <bdi>{names.join(', ')}</bdi>
      {hit > 0 && <span class="quiet"> {texts.ownsHit(hit)}</span>}
    </>
  )
}
