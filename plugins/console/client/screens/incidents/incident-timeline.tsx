import { formatSpan } from '../../lib/format.ts'
import { Timeline } from '../timeline/timeline.tsx'
import { listEntries, type Entry } from './entries.ts'
import { addComment, type Incident } from './requests.ts'
import { incidentTexts as texts } from './texts.ts'

/** Alerts that an entry names; all of them are listed on the page. */
const MAX_NAMED = 3

/** What happened, what was sent and what people wrote, the newest first and each once. */
export function IncidentTimeline({ incident, reload }: { incident: Incident; reload: () => void }) {
  return (
    <section>
      <h2>{texts.timeline}</h2>
      <Timeline
        id={`incident comment ${incident.id}`}
        activities={listEntries(incident)}
        describe={(entry: Entry) => <EntryDetails entry={entry} />}
        comment={async (text: string) => {
          await addComment(incident.id, text)
          reload()
        }}
      />
    </section>
  )
}

function EntryDetails({
  entry: { activity_type: type, alerts, alertCount, seconds, messages },
}: {
  entry: Entry
}) {
  // The first alerts are the list above.
  const named = type === 'opened' ? [] : alerts.slice(0, MAX_NAMED)
  return (
    <>
      {alertCount > 0 && <p>{texts.alertsWithin(alertCount, seconds > 1 ? formatSpan(seconds) : null)}</p>}
      {named.map(({ id, title }) => (
        <p key={id}>
          <a href={`/alerts/${id}`}>
            <bdi>{title}</bdi>
          </a>
        </p>
      ))}
      {messages.map(({ id, destination_id: destination, destination_name: name, status }) => (
        <p key={id}>
          <a href={`/routing/${destination}?delivery=${id}`}>
            <bdi>{name}</bdi>
          </a>{' '}
          <span class={status === 'failed' ? 'chip bad' : 'chip'}>{status}</span>
        </p>
      ))}
    </>
  )
}
