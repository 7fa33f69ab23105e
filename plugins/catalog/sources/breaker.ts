import {
  CONNECTION_ERROR_KINDS,
  ConnectorError,
  type ConnectorErrorKind,
} from '../../../connectors/errors.ts'
import type { Database } from '../../../server/database/database.ts'
import type { Reader } from '../../../server/telemetry/telemetry.ts'
import type { Source } from '../models.ts'

/**
 * Circuit breaker: after N failed connections in a row, scheduled work pauses (open); then one probe runs (half-open) while
 * the rest waits for its result. Each failed probe doubles the pause. A request of a person always connects.
 */

const MAX_PAUSE_SECONDS = 3_600
/** Connections in a row that fail before the first pause, and its seconds. */
const DEFAULT_POLICY = { most: 5, first: 60 }
/** For a wrong password: more attempts may lock the account. */
const CREDENTIALS_POLICY = { most: 1, first: 300 }
/** Lifetime of a probe: one whose process died is over then. */
const PROBE_SECONDS = 60

/** Failures before the source is connected to at all, and those that say nothing of it. */
const UNDIALLED_KINDS: readonly ConnectorErrorKind[] = ['driver-missing', 'egress-refused', 'busy']

/** How a session did, as far as its connection goes; undefined where that says nothing. */
export type ConnectionOutcome = 'reached' | 'failed' | 'refused' | undefined

/** What an error says of the connection. @param isOpen whether the session had been opened */
export function outcomeOfError(error: unknown, isOpen: boolean): ConnectionOutcome {
  if (!(error instanceof ConnectorError)) return undefined
  const { kind, code } = error
  if (code === 'ABORTED' || code === PAUSED_CODE || UNDIALLED_KINDS.includes(kind)) return undefined
  if (isOpen && !CONNECTION_ERROR_KINDS.has(kind)) return 'reached'
  return kind === 'credentials' ? 'refused' : 'failed'
}

const IS_THIS_SOURCE = 'where company_id = :companyId and id = :sourceId'
/** A result for a connection that was changed meanwhile does not count. Each change seals the secrets anew. */
const IS_SAME_CONNECTION = 'and secrets is not distinct from :secrets'

/** What a session that ends makes of the breaker of its source; null where it makes nothing of it. */
export function breakerUpdate(outcome: ConnectionOutcome, wasFailing: boolean): string | null {
  if (outcome === undefined || (outcome === 'reached' && !wasFailing)) return null
  if (outcome === 'reached')
    return `update sources set connection_failures = 0, failing_since = null, dial_after = null,
      pause_seconds = 0, trial_until = null ${IS_THIS_SOURCE} ${IS_SAME_CONNECTION}`
  const { most, first } = outcome === 'refused' ? CREDENTIALS_POLICY : DEFAULT_POLICY
  const pauses = `(dial_after is null and connection_failures + 1 >= ${most} or dial_after <= now())`
  const next = `least(greatest(2 * pause_seconds, ${first}), ${MAX_PAUSE_SECONDS})`
  return `update sources set
      connection_failures = connection_failures + 1,
      failing_since = coalesce(failing_since, now()),
      trial_until = null,
      pause_seconds = case when ${pauses} then ${next} else pause_seconds end,
      dial_after = case when ${pauses} then now() + make_interval(secs => ${next}) else dial_after end
    ${IS_THIS_SOURCE} ${IS_SAME_CONNECTION}`
}

/** SQL over a row of `sources`: the state of its breaker. */
export const BREAKER_STATE = `case
    when dial_after is null then 'closed'
    when dial_after > now() then 'open'
    when trial_until > now() then 'trying'
    else 'half_open' end`

/** Takes the probe after a pause; returns no row when another process has it. */
export const TAKE_PROBE = `update sources
  set trial_until = now() + make_interval(secs => ${PROBE_SECONDS})
  ${IS_THIS_SOURCE} and dial_after <= now() and coalesce(trial_until <= now(), true) returning id`

/** The columns of a source whose breaker is closed. */
export const CLOSED_BREAKER: Partial<Source> = {
  connectionFailures: 0,
  failingSince: null,
  dialAfter: null,
  pauseSeconds: 0,
  trialUntil: null,
}

const PAUSED_CODE = 'PAUSED'

/** Whether an error only means that the breaker of the source is open. */
export function isPausedError(error: unknown): boolean {
  return error instanceof ConnectorError && error.code === PAUSED_CODE
}

/** The error of scheduled work while the breaker of its source is open. */
export function pausedError(
  { id, name, sourceType }: Source,
  {
    failingSince,
    dialAfter,
    connectionError,
  }: Pick<Source, 'failingSince' | 'dialAfter' | 'connectionError'>,
): ConnectorError {
  const since = failingSince ? ` since ${failingSince.toISOString()}` : ''
  const why = connectionError ? ` (${connectionError.message})` : ''
  const when = dialAfter ? ` at ${dialAfter.toISOString()}` : ' later'
  return new ConnectorError({
    kind: 'network',
    code: PAUSED_CODE,
    engine: sourceType,
    message: `${name} could not be reached${since}${why}: it is tried again${when}, or at once by POST /api/v1/sdk/assets/${id}/test-connection`,
  })
}

/** Counts the sources whose breaker is open, for operators. */
export function pausedSourcesGauge(db: Database): Reader {
  const name = 'sources_left_alone'
  return {
    gauges: {
      [name]: { help: 'Sources that could not be reached and wait for the next try', labels: ['engine'] },
    },
    async read() {
      const found = await db.statement<{ engine: string; count: number }>(
        `select source_type as engine, cast(count(*) as int) as count from sources
         where dial_after is not null and is_active group by source_type`,
      )
      return { [name]: found.map(({ engine, count }) => ({ labels: { engine }, value: count })) }
    },
  }
}
