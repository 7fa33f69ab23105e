import type { Table } from 'tidemark/client'
import { inWords } from '../lib/format.ts'
import { texts } from '../texts.ts'

/** How grave something is: a colour and a shape, beside its word. */
export type Tone = 'ok' | 'warning' | 'critical' | 'unknown' | 'info'

/** A shape for each tone, so that colour is never the only sign. */
const SHAPES: Record<Tone, string> = {
  ok: 'M8 2.500a5.500 5.500 0 1 0 0 11 5.500 5.500 0 0 0 0-11z',
  warning: 'M8 2 14.500 13.500h-13z',
  critical: 'M8 1.500 14.500 8 8 14.500 1.500 8z',
  info: 'M3 3h10v10H3z',
  unknown: 'M8 3.200a4.800 4.800 0 1 1 0 9.600 4.800 4.800 0 0 1 0-9.600z',
}

const TONES: Record<string, Tone> = {
  critical: 'critical',
  failing: 'critical',
  fail: 'critical',
  high: 'critical',
  stale: 'critical',
  violated: 'critical',
  failed: 'critical',
  disconnected: 'critical',
  unavailable: 'critical',
  error: 'critical',
  warning: 'warning',
  medium: 'warning',
  warn: 'warning',
  changed: 'warning',
  degraded: 'warning',
  ok: 'ok',
  healthy: 'ok',
  pass: 'ok',
  passing: 'ok',
  fresh: 'ok',
  ready: 'ok',
  connected: 'ok',
  completed: 'ok',
  delivered: 'ok',
  resolved: 'ok',
  succeeded: 'ok',
  info: 'info',
  low: 'info',
}

export const toneOf = (status: string | null | undefined): Tone =>
  TONES[(status ?? '').toLowerCase()] ?? 'unknown'

export function Shape({ tone }: { tone: Tone }) {
  return (
    <svg class={`shape ${tone}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={SHAPES[tone]} />
    </svg>
  )
}

/** A severity or an impact as a shape and a word. @param props.word what stands for the code of the API */
export function Severity({ level, word = level }: { level: string; word?: string }) {
  return (
    <span class="severity">
      <Shape tone={toneOf(level)} />
      {word}
    </span>
  )
}

/** Where people have another word than the API. */
const WORDS: Record<string, string> = { triggered: 'open' }

/**
 * The state of something as a word in a pill, without a shape: shapes are for severities. It has a colour where something is
 * wrong.
 * @param props.word what stands for the code of the API
 */
export function Status({ status, word }: { status: string | null | undefined; word?: string }) {
  const text = word ?? WORDS[status ?? ''] ?? inWords((status ?? 'unknown').toLowerCase())
  return <span class={`status ${toneOf(status)}`}>{text}</span>
}

/** How fresh something is, or how much was learned of it. */
export function FreshnessStatus({
  of: { status, learning },
}: {
  of: Pick<Table['freshness'], 'status' | 'learning'>
}) {
  if (!learning) return <Status status={status} />
  return (
    <>
      <Status status="learning" /> <span class="quiet">{texts.updatesSeen(learning)}</span>
    </>
  )
}

/** How many checks do what: what is wrong in a pill, else what passes, before the others. */
export function CheckCounts({ quality }: { quality: Table['quality'] }) {
  const { passing, learning, failing, error, pending } = quality
  const isWrong = failing + error > 0
  const first = isWrong ? { failing, error } : { passing }
  const others = { ...(isWrong && { passing }), learning, pending }
  if (!isWrong && passing === 0) return <Status status={null} word={texts.checksOf(others)} />
  return (
    <>
      <Status status={isWrong ? 'failing' : 'passing'} word={texts.checksOf(first)} />
      {Object.values(others).some(Boolean) && (
        <>
          {' '}
          <span class="quiet nowrap">{texts.checksOf(others)}</span>
        </>
      )}
    </>
  )
}
