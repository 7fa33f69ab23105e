import { isMissing } from '../../lib/api.ts'
import { useData, type Data } from '../../lib/data.ts'
import { useTitle } from '../../parts/frame.tsx'
import { Loaded, MissingPage } from '../../parts/states.tsx'
import { incidentTexts as texts } from './texts.ts'
import { AlertGroups, FoundChanges } from './alert-groups.tsx'
import { Cause } from './cause.tsx'
import { IncidentHeader } from './header.tsx'
import { IncidentTimeline } from './incident-timeline.tsx'
import { PostMortem } from './post-mortem.tsx'
import { loadDownstream, loadIncident, type Downstream, type Incident } from './requests.ts'
import { Strip } from './strip.tsx'

/** What caused an incident, what it hits, what was done, and what can be done. */
export function IncidentPage({ id }: { id: string }) {
  const asked: Data<Incident> = useData<Incident>(`incident ${id}`, signal => loadIncident(id, signal))
  useTitle(asked.data ? titleOf(asked.data) : texts.incident)
  if (isMissing(asked.error))
    return <MissingPage title="There is no such incident" href="/incidents" back={texts.all} />
  return (
    <div class="page">
      <p class="path">
        <a href="/incidents">{texts.all}</a>
      </p>
      <Loaded of={asked} what={texts.incident.toLowerCase()} rows={10}>
        {(incident: Incident) => <Content incident={incident} reload={asked.reload} />}
      </Loaded>
    </div>
  )
}

function Content({ incident, reload }: { incident: Incident; reload: () => void }) {
  const { asset_id: root, is_named: isNamed } = incident.root_cause
  const lineage: Downstream = useData(isNamed ? `downstream of ${root}` : null, signal =>
    loadDownstream(root, signal),
  )
  return (
    <>
      <IncidentHeader incident={incident} reload={reload} />
      {isNamed && (
        <>
          <Cause incident={incident} lineage={lineage} />
          <Strip incident={incident} lineage={lineage} />
        </>
      )}
      <div class="columns">
        <div>{isNamed ? <AlertGroups incident={incident} /> : <FoundChanges incident={incident} />}</div>
        <div>
          <IncidentTimeline incident={incident} reload={reload} />
          <PostMortem incident={incident} reload={reload} />
        </div>
      </div>
    </>
  )
}

const titleOf = ({ number, title }: Incident) =>
  number === null ? title : `${texts.numbered(number)} ${title}`
