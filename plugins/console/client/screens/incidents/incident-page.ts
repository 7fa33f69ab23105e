import { isMissing } from '../../lib/api.ts'
import { useData, type Data } from '../../lib/data.ts'
import { formatTime, inWords } from '../../lib/format.ts'
import { html } from '../../lib/html.ts'
import { tableAddress } from '../../lib/router.ts'
import { useTitle } from '../../parts/frame.ts'
import { Help } from '../../parts/help.ts'
import { Empty, Loaded } from '../../parts/states.ts'
import { Shape, Status, toneOf } from '../../parts/status.ts'
import { Ago } from '../../parts/time.ts'
import { incidentTexts as texts } from './texts.ts'
import { Affected } from './affected.ts'
import { IncidentActions } from './incident-actions.ts'
import { PostMortem } from './post-mortem.ts'
import { addComment, loadIncident, type Incident } from './requests.ts'
import { nameOfAssignee } from '../timeline/assignee.ts'
import { Timeline } from '../timeline/timeline.ts'

/** What caused an incident, what it hits, what was done, and what can be done. */
export function IncidentPage({ id }: { id: string }) {
  const asked: Data<Incident> = useData<Incident>(`incident ${id}`, signal => loadIncident(id, signal))
  useTitle(asked.data?.title ?? texts.incident)
  if (isMissing(asked.error))
    return html`<div class="page">
      <${Empty} title="There is no such incident" isScreen=${true}
        ><p><a class="button" href="/incidents">${texts.all}</a></p><//
      >
    </div>`
  return html`<div class="page">
    <p class="path"><a href="/incidents">${texts.all}</a></p>
    <${Loaded} of=${asked} what=${texts.incident.toLowerCase()} rows=${10}>
      ${(incident: Incident) =>
        html`<${Header} incident=${incident} />
          <${IncidentActions} incident=${incident} reload=${asked.reload} />
          <div class="columns">
            <div>
              <${Cause} incident=${incident} />
              <${Affected} incident=${incident} />
              <${Alerts} incident=${incident} />
            </div>
            <div>
              <${Times} incident=${incident} />
              <${PostMortem} incident=${incident} reload=${asked.reload} />
              <section>
                <h2>${texts.timeline}</h2>
                <${Timeline}
                  id=${`incident comment ${id}`}
                  activities=${incident.activities}
                  comment=${async (text: string) => {
                    await addComment(id, text)
                    asked.reload()
                  }}
                />
              </section>
            </div>
          </div>`}
    <//>
  </div>`
}

function Header({ incident }: { incident: Incident }) {
  const { assignee } = incident
  return html`<header>
    <h1><${Shape} tone=${toneOf(incident.severity)} /><bdi>${incident.title}</bdi></h1>
    <p class="facts">
      <${Status} status=${incident.severity} />
      <${Status} status=${incident.status} />
      ${
        incident.status === 'snoozed' &&
        html`<span class="quiet">${texts.until(formatTime(incident.snoozed_until))}</span>`
      }
      <span>${texts.opened} <${Ago} at=${incident.created_at} /></span>
      <span>${texts.assignee}:${' '}<bdi>${nameOfAssignee(assignee)}</bdi></span>
    </p>
    <p><bdi>${incident.description}</bdi>.</p>
    ${
      incident.merged_into &&
      html`<p>
        It turned out to be a part of another incident, which has its alerts.
        <a class="button small" href=${`/incidents/${incident.merged_into}`}>Open that incident</a>
      </p>`
    }
  </header>`
}

/** What is named as the cause, and why. */
function Cause({ incident: { root_cause: cause } }: { incident: Incident }) {
  return html`<section>
    <h2>${texts.cause}<${Help} page="incidents" about=${texts.cause} /></h2>
    <p>
      <${Status}
        status=${cause.severity}
        word=${texts.symptoms[cause.symptom] ?? inWords(cause.symptom)}
      />${': '} <a href=${tableAddress(cause.qualified_name)}><bdi>${cause.qualified_name}</bdi></a
      >${' '}
      <span class="quiet">${texts.causeSure(cause.confidence)}</span>
    </p>
    ${cause.explanation && html`<p><bdi>${cause.explanation}</bdi>.</p>`}
    <h3>Evidence</h3>
    <ul class="timeline">
      ${cause.evidence.map(
        (each, n) =>
          html`<li key=${n}>
            <span>${texts.symptoms[each.symptom] ?? inWords(each.symptom)}</span>
            ${
              each.alert_id
                ? html`<a href=${`/alerts/${each.alert_id}`}><bdi>${each.summary}</bdi></a>`
                : html`<bdi>${each.summary}</bdi>`
            }
            <${Ago} at=${each.at} />
          </li>`,
      )}
    </ul>
  </section>`
}

function Alerts({ incident }: { incident: Incident }) {
  return html`<section>
    <h2>${texts.alerts} <span class="count">${incident.alert_count}</span></h2>
    <ul class="list">
      ${[...incident.alerts]
        .sort((a, b) => Number(b.is_cause) - Number(a.is_cause))
        .map(
          alert =>
            html`<li key=${alert.id}>
              <a href=${`/alerts/${alert.id}`}>
                <${Shape} tone=${toneOf(alert.severity)} /><span class="hidden">${alert.severity}</span>
                <span class="text"><bdi>${alert.title}</bdi></span>
                ${alert.why && html`<span class=${alert.is_cause ? 'chip' : 'quiet'}><bdi>${alert.why}</bdi></span>`}
                ${alert.status !== 'triggered' && html`<${Status} status=${alert.status} />`}
                <${Ago} at=${alert.last_seen_at} />
              </a>
            </li>`,
        )}
    </ul>
  </section>`
}

/** How long each step took. */
function Times({ incident }: { incident: Incident }) {
  const isOver = incident.resolved_at !== null
  const rows = [
    ['Began', incident.started_at ? html`<${Ago} at=${incident.started_at} />` : texts.unknown],
    [
      'Detected after',
      incident.minutes_to_detect === null ? texts.unknown : texts.span(incident.minutes_to_detect),
    ],
    [
      texts.acknowledged,
      incident.minutes_to_acknowledge === null
        ? isOver
          ? '–'
          : texts.notYet
        : texts.span(incident.minutes_to_acknowledge),
    ],
    [
      'Resolved after',
      incident.minutes_to_resolve === null ? texts.notYet : texts.span(incident.minutes_to_resolve),
    ],
    ['Last seen', html`<${Ago} at=${incident.last_triggered_at} />`],
  ] as const
  return html`<section>
    <h2>Times</h2>
    <dl class="facts">
      ${rows.map(
        ([name, value]) =>
          html`<div key=${name}>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
  </section>`
}
