import { useEffect, useState } from 'preact/hooks'
import type { DeliveryAttempt } from 'tidemark/client'
import { useAction } from '../../lib/action.ts'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { countOf, formatTime } from '../../lib/format.ts'
import { changeQuery, useQuery } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { DataTable, type Column } from '../../parts/table/data-table.tsx'
import { Choice } from '../../parts/filters.tsx'
import { useSession } from '../../parts/frame.tsx'
import { notify } from '../../parts/notices.tsx'
import { pageSizeOf, Paging, readOffset } from '../../parts/paging.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import { routingTexts } from './texts.ts'
import { texts } from '../../texts.ts'
import { Answer, AnswerBody } from './test-message.tsx'

const STATUSES = ['pending', 'delivered', 'failed', 'stopped'] as const
const TYPES = ['alert.triggered', 'alert.resolved', 'alert.test', 'digest'] as const
/** How often a message that is on its way is looked at. */
const POLL_MS = 4_000
/** A later attempt is not waited for. */
const SOON_MS = 60_000

async function loadDeliveries(
  id: string,
  query: URLSearchParams,
  page: { limit: number; offset: number },
  signal: AbortSignal,
) {
  const status = STATUSES.find(known => known === query.get('status'))
  const type = TYPES.find(known => known === query.get('message'))
  const { data } = await api.get('/api/v1/sdk/alerts/destinations/{id}/deliveries', {
    path: { id },
    query: { ...page, ...(status && { status: [status] }), ...(type && { event_type: [type] }) },
    signal,
  })
  return data
}
type DeliveryPageContent = Awaited<ReturnType<typeof loadDeliveries>>
type ListedDelivery = DeliveryPageContent['data'][number]

const isOnItsWay = ({ status, next_attempt_at: at }: ListedDelivery) =>
  status === 'pending' && (at === null || Date.parse(at) < Date.now() + SOON_MS)

/**
 * The messages that a destination was sent, with every attempt; the open one stands in the address.
 * @param round changes when there is a new message
 * @param reload asks for the destination again, whose state an attempt changes
 */
export function Deliveries({ id, round, reload }: { id: string; round: string; reload: () => void }) {
  const [query] = useQuery()
  const page = { limit: pageSizeOf(useSession().preferences), offset: readOffset(query) }
  const [status, type] = [query.get('status') ?? '', query.get('message') ?? '']
  const [isPolled, setPolled] = useState(false)
  const asked = useData(
    `deliveries ${id} ${status} ${type} ${page.limit} ${page.offset}`,
    signal => loadDeliveries(id, query, page, signal),
    { pollMs: isPolled ? POLL_MS : 0 },
  )
  /** Follows a message that is on its way, which a filter would hide. */
  const follow = () => {
    changeQuery({ status: null })
    setPolled(true)
    asked.reload()
  }
  useEffect(() => {
    if (round) asked.reload()
  }, [round])
  useEffect(() => {
    if (!asked.data) return
    const isPending = asked.data.data.some(isOnItsWay)
    if (isPolled && !isPending) reload()
    setPolled(isPending)
  }, [asked.data])
  return (
    <section>
      <div class="filters">
        <Choice
          name="status"
          label={texts.status}
          none="Any status"
          options={STATUSES.map(known => [known, known] as const)}
        />
        <Choice
          name="message"
          label={routingTexts.message}
          none="Any message"
          options={TYPES.map(known => [known, routingTexts.typeOf[known]!] as const)}
        />
        {(status || type) && (
          <button class="link" onClick={() => changeQuery({ status: null, message: null, offset: null })}>
            {texts.clearFilters}
          </button>
        )}
      </div>
      <Loaded of={asked} what={routingTexts.messages.toLowerCase()} rows={6}>
        {({ data, pagination }: DeliveryPageContent) =>
          data.length === 0 ? (
            <Empty title={status || type ? 'No message matches' : 'No message was sent yet'}>
              {!status && !type && <p>Send a test to see whether messages arrive.</p>}
            </Empty>
          ) : (
            <>
              <DeliveryTable deliveries={data} follow={follow} />
              <Paging pagination={pagination} />
            </>
          )
        }
      </Loaded>
    </section>
  )
}

function DeliveryTable({
  deliveries,
  follow,
}: {
  deliveries: readonly ListedDelivery[]
  follow: () => void
}) {
  const [query] = useQuery()
  const openId = query.get('delivery')
  const columns: (Column<ListedDelivery> | false)[] = [
    {
      label: routingTexts.message,
      isName: true,
      cell: ({ id, event_type: type, attempts, subject_title: title }) => (
        <button
          class="link"
          aria-expanded={id === openId}
          onClick={() => changeQuery({ delivery: id === openId ? null : id })}
        >
          {title ? (
            <>
              <bdi>{title}</bdi> <span class="quiet">{routingTexts.typeOf[type] ?? type}</span>
            </>
          ) : (
            (routingTexts.typeOf[type] ?? type)
          )}
          {attempts.length > 1 && <span class="count">{countOf(attempts.length, 'attempt')}</span>}
        </button>
      ),
    },
    {
      label: texts.status,
      cellClass: 'state',
      cell: delivery => <Status status={delivery.status} />,
    },
    { label: 'Created', cell: delivery => <Ago at={delivery.created_at} /> },
    {
      label: 'About',
      cell: ({ alert_id: alertId, incident_id: incidentId }) =>
        incidentId ? (
          <a href={`/incidents/${incidentId}`}>incident</a>
        ) : alertId ? (
          <a href={`/alerts/${alertId}`}>alert</a>
        ) : (
          <span class="quiet">–</span>
        ),
    },
    {
      label: 'Outcome',
      cellClass: 'wraps',
      cell: delivery => describeOutcome(delivery, delivery.attempts.at(-1)),
    },
    canWrite() && {
      label: routingTexts.redeliver,
      isLabelHidden: true,
      cellClass: 'action',
      cell: ({ id, status }) => status !== 'pending' && <Redeliver id={id} follow={follow} />,
    },
  ]
  return (
    <DataTable
      label={routingTexts.messages}
      className="deliveries stacked two-line"
      columns={columns}
      rows={deliveries}
      chosen={openId}
      details={(delivery: ListedDelivery) => delivery.id === openId && <Attempts delivery={delivery} />}
    />
  )
}

/** What became of a message, in short. */
function describeOutcome(
  { status, stopped_reason: reason, next_attempt_at: next }: ListedDelivery,
  last: DeliveryAttempt | undefined,
) {
  if (status === 'stopped' && reason) return `${reason}.`
  if (status === 'pending' && next)
    return (
      <>
        Next attempt <Ago at={next} />
        {last?.error_message && `. ${last.error_message}`}
      </>
    )
  if (!last) return '–'
  return last.error_message ?? `${last.status_code ?? ''} · ${routingTexts.inMs(last.latency_ms)}`
}

function Redeliver({ id, follow }: { id: string; follow: () => void }) {
  const [isBusy, run] = useAction(routingTexts.redeliver, async () => {
    await api.post('/api/v1/sdk/alerts/deliveries/{id}/redeliver', { path: { id } })
    notify('The message is on its way again.')
    follow()
  })
  return (
    <button class="small" disabled={isBusy} onClick={run}>
      {routingTexts.redeliver}
    </button>
  )
}

function Attempts({ delivery }: { delivery: ListedDelivery }) {
  if (delivery.attempts.length === 0) return <p class="quiet">No attempt was made yet.</p>
  return (
    <ol class="attempts" aria-label="Attempts">
      {delivery.attempts.map(attempt => (
        <li key={attempt.n}>
          <p class="facts">
            <Status
              status={attempt.error_class === null ? 'delivered' : 'failed'}
              word={texts.attempt(attempt.n)}
            />
            <span>{formatTime(attempt.started_at)}</span>
            <Answer attempt={attempt} />
            <span class="quiet">{attempt.trigger}</span>
          </p>
          {attempt.error_message && <p class="bad">{attempt.error_message}.</p>}
          <AnswerBody text={attempt.response_body} hasAnswer={attempt.status_code !== null} />
        </li>
      ))}
    </ol>
  )
}
