import { useState } from 'preact/hooks'
import { tableAddress } from '../../lib/router.ts'
import { Shape, Status, toneOf } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import { shortTitle } from '../timeline/short-title.ts'
import { namesOf } from './names.ts'
import type { Incident } from './requests.ts'
import { incidentTexts as texts } from './texts.ts'

type IncidentAlert = Incident['alerts'][number]

/** Tables that are shown before a person asks for the others. */
const FIRST_TABLES = 8

/** The alerts by table, the cause first, then the nearest; each says why it belongs here. */
export function AlertGroups({ incident }: { incident: Incident }) {
  const [isWhole, setWhole] = useState(false)
  const names = namesOf(incident)
  const groups = [...Map.groupBy(incident.alerts, ({ qualified_name: name }) => name)]
    .map(([name, alerts]) => ({
      name,
      alerts: alerts.toSorted((a, b) => Number(b.is_cause) - Number(a.is_cause)),
    }))
    .sort((a, b) => distanceOf(a.alerts) - distanceOf(b.alerts) || a.name.localeCompare(b.name))
  const shown = isWhole ? groups : groups.slice(0, FIRST_TABLES)
  return (
    <section>
      <h2>
        {texts.alerts} <span class="count">{incident.alert_count}</span>
      </h2>
      {shown.map(({ name, alerts }) => (
        <section key={name} class="alert-group">
          <h3>
            <a href={tableAddress(name)} title={name}>
              <bdi>{names.get(name)}</bdi>
            </a>
            <span class="quiet">
              <bdi>{alerts[0]!.why}</bdi>
            </span>
          </h3>
          <ul class="list">
            {alerts.map(alert => (
              <AlertRow
                key={alert.id}
                alert={alert}
                title={shortTitle(alert)}
                note={alert.why === alerts[0]!.why || alert.reason === 'same_table' ? null : alert.why}
              />
            ))}
          </ul>
        </section>
      ))}
      {shown.length < groups.length && (
        <button class="small" onClick={() => setWhole(true)}>
          {texts.moreTables(groups.length - shown.length)}
        </button>
      )}
    </section>
  )
}

function distanceOf(alerts: readonly IncidentAlert[]): number {
  if (alerts.some(({ is_cause: isCause }) => isCause)) return -1
  return Math.min(...alerts.map(({ steps }) => steps ?? Infinity))
}

function AlertRow({ alert, title, note }: { alert: IncidentAlert; title: string; note: string | null }) {
  const { id, severity, status, created_at: at } = alert
  return (
    <li>
      <a href={`/alerts/${id}`}>
        <Shape tone={toneOf(severity)} />
        <span class="hidden">{severity}</span>
        <span class="text" title={alert.title}>
          <bdi>{title}</bdi>
        </span>
        {note && (
          <span class="quiet">
            <bdi>{note}</bdi>
          </span>
        )}
        {status !== 'triggered' && <Status status={status} />}
        <Ago at={at} />
      </a>
    </li>
  )
}

const SEVERITIES = ['critical', 'warning', 'info']

/** What one discovery found, the riskiest first, then what most is made from: none of it is the cause of the rest. */
export function FoundChanges({ incident: { alerts, root_cause: worst } }: { incident: Incident }) {
  const rankOf = ({ severity }: IncidentAlert) => SEVERITIES.indexOf(severity)
  const changes = alerts.toSorted(
    (a, b) =>
      rankOf(a) - rankOf(b) || b.downstream_count - a.downstream_count || a.title.localeCompare(b.title),
  )
  return (
    <section>
      <h2>{texts.happened}</h2>
      <p>
        <bdi>{worst.explanation}</bdi>.
      </p>
      <ul class="list">
        {changes.map(alert => (
          <AlertRow
            key={alert.id}
            alert={alert}
            title={alert.title}
            note={texts.downstream(alert.downstream_count)}
          />
        ))}
      </ul>
    </section>
  )
}
