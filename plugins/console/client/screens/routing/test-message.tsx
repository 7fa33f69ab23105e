import type { DestinationTest } from 'tidemark/client'
import { useAction } from '../../lib/action.ts'
import { api } from '../../lib/api.ts'
import { Status } from '../../parts/status.tsx'
import { routingTexts } from './texts.ts'

/** A test may wait for a free slot, and then for the receiver. */
const TIMEOUT_MS = 70_000

/** Sends a test message and waits for its outcome. */
export function TestButton({
  id,
  className,
  tested,
}: {
  id: string
  className: string
  tested: (test: DestinationTest) => void
}) {
  const [isBusy, run] = useAction(routingTexts.sendTest, async () => {
    const path = '/api/v1/sdk/alerts/destinations/{id}/test'
    const { data } = await api.post(path, { path: { id }, timeoutMs: TIMEOUT_MS })
    tested(data)
  })
  return (
    <button class={className} disabled={isBusy} onClick={run}>
      {isBusy ? 'Sending…' : routingTexts.sendTest}
    </button>
  )
}

/** What a receiver made of a test: whether it took it, how fast, and what it answered. */
export function TestOutcome({ test }: { test: DestinationTest }) {
  return (
    <section class="outcome" role="status" aria-label={routingTexts.testTitle}>
      <p class="facts">
        <strong>{routingTexts.testTitle}:</strong>
        <Status
          status={test.success ? 'delivered' : 'failed'}
          word={test.success ? 'accepted' : 'not accepted'}
        />
        <Answer attempt={test} />
      </p>
      {!test.success && test.message && <p class="bad">{test.message}.</p>}
      <AnswerBody text={test.response_body} hasAnswer={test.status_code !== null} />
    </section>
  )
}

type AnsweredAttempt = Pick<
  DestinationTest,
  'status_code' | 'latency_ms' | 'is_slow' | 'address' | 'tls_version' | 'error_class'
>

/** The status and the latency of an attempt, and the address that was dialled. */
export function Answer({ attempt }: { attempt: AnsweredAttempt }) {
  const { status_code: status, error_class: error, address, tls_version: tls } = attempt
  return (
    <>
      <span>{status === null ? (error ?? '–') : `Status ${status}`}</span>
      <span>
        {routingTexts.inMs(attempt.latency_ms)}
        {attempt.is_slow && (
          <>
            {' '}
            <span class="bad">({routingTexts.slow})</span>
          </>
        )}
      </span>
      {address && <span class="quiet">{[address, tls].filter(Boolean).join(', ')}</span>}
    </>
  )
}

/** The beginning of what a receiver answered. */
export function AnswerBody({ text, hasAnswer }: { text: string | null; hasAnswer: boolean }) {
  if (!hasAnswer) return null
  if (!text) return <p class="quiet">The answer was empty.</p>
  return (
    <>
      <p class="quiet">{routingTexts.answer}:</p>
      <pre tabindex={0} role="region" aria-label={routingTexts.answer}>
        <bdi>{text}</bdi>
      </pre>
    </>
  )
}
