import type { Outlook } from '../../../server/http/trial-schemas.ts'

/** What the reply of a dry run says, as far as it matters here. */
interface TriedReply {
  status?: unknown
  history?: { source: unknown; alerts: number; lookback_days: number }
}

/** What a check would do: the alerts of now, and of the past where that is known. */
export function outlookOf({ status, history }: TriedReply): Outlook {
  const word = String(status).toLowerCase()
  const now = word === 'error' ? null : word === 'fail' ? 1 : 0
  const isKnown = history !== undefined && history.source !== null && now !== null
  const outlook = {
    alerts_now: now,
    alerts_before: isKnown ? history.alerts : null,
    days: history?.lookback_days ?? null,
  }
  return { ...outlook, message: describeOutlook(outlook) }
}

function describeOutlook({ alerts_now: now, alerts_before: before, days }: Omit<Outlook, 'message'>): string {
  if (now === null) return 'It cannot be measured'
  const said = `${now} ${now === 1 ? 'alert' : 'alerts'} now`
  return before === null ? `${said}; its past is not known` : `${said}, ${before} in the ${days} days before`
}
