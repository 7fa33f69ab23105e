import { shorten, type DeliveryOutcome } from '../destination.ts'

/** What to do about a refusal, by the status of the answer. */
export type RefusalSentences = Readonly<Record<number, string>>

/** A failed outcome with what to do about its status, and the reason that the receiver gave; others are left alone. */
export function explainStatus(outcome: DeliveryOutcome, sentences: RefusalSentences): DeliveryOutcome {
  const { isDelivered, statusCode, responseBody } = outcome
  const sentence = statusCode === null ? undefined : sentences[statusCode]
  if (isDelivered || sentence === undefined) return outcome
  const reason = refusalReason(responseBody)
  return { ...outcome, errorMessage: `${sentence}${reason && `: ${reason}`} (${statusCode})` }
}

/** An answer as an object; empty if it is none, such as a page or JSON that was cut. */
export function parseAnswer(body: string | null): Record<string, unknown> {
  try {
    const answer: unknown = JSON.parse(body ?? '')
    return typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** The sentences of an answer, wherever services put them: `message`, `error.message`, `errorMessages`, `errors`. */
function refusalReason(body: string | null): string {
  const { message, error, errorMessages, errors } = parseAnswer(body)
  return shorten([message, error, errorMessages, errors].flatMap(findSentences).join('; '), 300)
}

function findSentences(value: unknown): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (typeof value !== 'object' || value === null) return []
  if ('message' in value) return findSentences(value.message)
  return Object.entries(value).flatMap(([key, text]) =>
    typeof text === 'string' ? [Array.isArray(value) ? text : `${key}: ${text}`] : [],
  )
}
