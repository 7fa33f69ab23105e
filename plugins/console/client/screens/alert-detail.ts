import { useState } from 'preact/hooks'
import type { Alert } from 'tidemark/client'
import { api } from '../lib/api.ts'
import { useAfter, useData } from '../lib/data.ts'
import { countOf, formatTime, inWords } from '../lib/format.ts'
import { html } from '../lib/html.ts'
import { assetAddress, useQuery, withQuery } from '../lib/router.ts'
import { canWrite } from '../lib/session.ts'
import { Icon } from '../parts/icons.ts'
import { lazy } from '../parts/lazy.ts'
import { Loaded, Skeleton } from '../parts/states.ts'
import { Status } from '../parts/status.ts'
import { Ago } from '../parts/time.ts'
import { texts } from '../texts.ts'
import { contractAddress } from './contracts/contract-address.ts'
import { MoveButtons, type Move } from './alert-moves.ts'
import { Evidence } from './evidence.ts'
import { incidentTexts } from './incidents/texts.ts'
import { nameOfAssignee } from './timeline/assignee.ts'
import type { Activity } from './timeline/timeline.ts'

const SKIM_MS = 150

// They bring the forms with them, which a first look does not need.
const Timeline = lazy(async () => (await import('./timeline/timeline.ts')).Timeline)
const AssignDialog = lazy(async () => (await import('./timeline/assign-dialog.ts')).AssignDialog)

/** Why an alert was raised, what became of it, and what to do. */
export function AlertDetail({
  alert,
  begin,
  changed,
}: {
  alert: Alert
  begin: (move: Move, alert: Alert) => void
  changed: (alert: Alert) => void
}) {
  const [query] = useQuery()
  // A person who skims the list by key does not need what each alert rests on.
  const isRead = useAfter(SKIM_MS)
  const { explanation } = alert.event.details as { explanation?: unknown }
  return html`<article aria-labelledby="alert-title">
    <a class="back" href=${withQuery('/alerts', {}, query)}>All alerts</a>
    <p class="facts">
      <${Status} status=${alert.severity} /> <${Status} status=${alert.status} />
      ${alert.snoozed_until && html`<span class="quiet">${texts.until(formatTime(alert.snoozed_until))}</span>`}
      ${
        alert.muted_until &&
        html`<span class="chip">${texts.mutedUntil(formatTime(alert.muted_until))}</span>`
      }
      <span class="quiet">${inWords(alert.event_type)}</span>
    </p>
    <h2 id="alert-title"><bdi>${alert.title}</bdi></h2>
    <p class="facts">
      <a href=${assetAddress(alert.asset)}><${Icon} name="catalog" /> <bdi>${alert.qualified_name}</bdi></a>
      <span>${texts.openedAt} <${Ago} at=${alert.created_at} /></span>
      <span>${texts.lastSeen} <${Ago} at=${alert.last_seen_at} /></span>
      <span>${countOf(alert.occurrences, 'occurrence')}</span>
      <a href=${withQuery('/incidents', { alert: alert.id })}>Incident</a>
      <${AssigneeOf} alert=${alert} changed=${changed} />
    </p>
    ${typeof explanation === 'string' && html`<p>${texts.why(explanation)}</p>`}
    <${BrokenContracts} alert=${alert} />
    <${MoveButtons} alerts=${[alert]} begin=${(move: Move) => begin(move, alert)} />
    ${isRead ? html`<${Evidence} alert=${alert} /><${History} alert=${alert} />` : html`<${Skeleton} rows=${9} />`}
    <${Deliveries} id=${alert.id} />
  </article>`
}

/** The contracts that rely on the check, with the clauses that fail with it. */
function BrokenContracts({ alert }: { alert: Alert }) {
  const { contracts = [] } = alert.event.details as { contracts?: { contract: string; clause: string }[] }
  return contracts.map(
    ({ contract, clause }) =>
      html`<p key=${`${contract} ${clause}`}>
        ${texts.contract}${' '}<a href=${contractAddress(contract)}><bdi>${contract}</bdi></a
        >:${' '}<bdi>${clause}</bdi>
      </p>`,
  )
}

/** What happened to an alert and what people wrote, the newest first. */
function History({ alert }: { alert: Alert }) {
  const path = { id: alert.id }
  const key = `timeline ${alert.id} ${alert.status} ${alert.snoozed_until} ${alert.assignee?.id}`
  const timeline = useData(key, async signal => {
    const { data } = await api.get('/api/v1/sdk/alerts/{id}/activities', { path, signal })
    return data.activities
  })
  return html`<section>
    <h3>${texts.history}</h3>
    <${Loaded} of=${timeline} what=${texts.history.toLowerCase()} rows=${2}>
      ${(activities: readonly Activity[]) =>
        html`<${Timeline}
          id=${`alert comment ${alert.id}`}
          activities=${activities}
          comment=${async (comment: string) => {
            await api.post('/api/v1/sdk/alerts/{id}/comment', { path, body: { comment } })
            timeline.reload()
          }}
        />`}
    <//>
  </section>`
}

/** Who takes care of an alert, and a button to change that. */
function AssigneeOf({ alert, changed }: { alert: Alert; changed: (alert: Alert) => void }) {
  const [isOpen, setOpen] = useState(false)
  return html`<span>
    ${incidentTexts.assignee}: <bdi>${nameOfAssignee(alert.assignee)}</bdi>${' '}
    ${
      canWrite() && html`<button class="link" onClick=${() => setOpen(true)}>${incidentTexts.assign}</button>`
    }
    ${
      isOpen &&
      html`<${AssignDialog}
        id=${alert.id}
        assignee=${alert.assignee}
        assign=${async ({ assignee_id = null }: { assignee_id?: string | null }) => {
          const body = { assignee_id }
          changed((await api.patch('/api/v1/sdk/alerts/{id}', { path: { id: alert.id }, body })).data)
        }}
        close=${() => setOpen(false)}
      />`
    }
  </span>`
}

interface Message {
  id: string
  destination_id: string
  destination_name: string
  event_type: string
  status: string
  created_at: string
  attempts: {
    n: number
    started_at: string
    status_code: number | null
    error_message: string | null
    latency_ms: number
  }[]
}

/** Asked for when someone opens it: most people do not look at it, and a screen is to need few requests. */
function Deliveries({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(false)
  const deliveries = useData(isOpen ? `deliveries ${id}` : null, async signal => {
    const { data } = await api.get('/api/v1/sdk/alerts/{id}/deliveries', { path: { id }, signal })
    return data.data as Message[]
  })
  return html`<details
    class="section"
    onToggle=${(event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}
  >
    <summary>${texts.deliveries}</summary>
    ${
      isOpen &&
      html`<${Loaded} of=${deliveries} what=${texts.deliveries.toLowerCase()} rows=${2}>
        ${(messages: readonly Message[]) =>
          messages.length === 0
            ? html`<p class="quiet">No destination matched.</p>`
            : html`<ul class="timeline">
                ${messages.map(message => html`<${MessageItem} key=${message.id} message=${message} />`)}
              </ul>`}
      <//>`
    }
  </details>`
}

function MessageItem({ message }: { message: Message }) {
  return html`<li>
    <${Status} status=${message.status} />
    <a href=${`/routing/${message.destination_id}?delivery=${message.id}`}
      ><bdi>${message.destination_name}</bdi></a
    >
    <span>${message.event_type}</span>
    <${Ago} at=${message.created_at} />
    ${message.attempts.map(
      attempt =>
        html`<p key=${attempt.n} class="quiet">
          ${texts.attempt(attempt.n)}: ${attempt.status_code ?? attempt.error_message} (${attempt.latency_ms}
          ms)
        </p>`,
    )}
  </li>`
}
