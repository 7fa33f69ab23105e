import { useState } from 'preact/hooks'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import { texts } from '../../texts.ts'

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
export function Deliveries({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(false)
  const deliveries = useData(isOpen ? `deliveries ${id}` : null, async signal => {
    const { data } = await api.get('/api/v1/sdk/alerts/{id}/deliveries', { path: { id }, signal })
    return data.data as Message[]
  })
  return (
    <details
      class="section"
      onToggle={(event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}
    >
      <summary>{texts.deliveries}</summary>
      {isOpen && (
        <Loaded of={deliveries} what={texts.deliveries.toLowerCase()} rows={2}>
          {(messages: readonly Message[]) =>
            messages.length === 0 ? (
              <p class="quiet">No destination matched.</p>
            ) : (
              <ul class="timeline">
                {messages.map(message => (
                  <MessageItem key={message.id} message={message} />
                ))}
              </ul>
            )
          }
        </Loaded>
      )}
    </details>
  )
}

function MessageItem({ message }: { message: Message }) {
  return (
    <li>
      <Status status={message.status} />
      <a href={`/routing/${message.destination_id}?delivery=${message.id}`}>
        <bdi>{message.destination_name}</bdi>
      </a>
      <span>{message.event_type}</span>
      <Ago at={message.created_at} />
      {message.attempts.map(attempt => (
        <p key={attempt.n} class="quiet">
          {texts.attempt(attempt.n)}: {attempt.status_code ?? attempt.error_message} ({attempt.latency_ms}ms)
        </p>
      ))}
    </li>
  )
}
