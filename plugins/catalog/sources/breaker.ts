import type { Server } from '@hapi/hapi'
import { ConnectorError, type ConnectorErrorKind } from '../../../connectors/errors.ts'
import type { Reader } from '../../../server/telemetry/telemetry.ts'
import type { Source } from '../models.ts'

/**
 * After some connections in a row that failed, what is scheduled leaves a source alone for a while; then one of it tries,
 * and the others wait for what it finds. Each try that fails doubles the pause. People are not held back.
 */

/** The longest pause, in seconds. */
const LONGEST = 3_600
/** Connections in a row that fail before the first pause, and its seconds. */
const PATIENT = { most: 5, first: 60 }
/** Of a wrong password: trying it a few times more may lock the account. */
const CAREFUL = { most: 1, first: 300 }
/** Seconds that the one try after a pause has for itself; one of a process that died is over then. */
export const TRIAL_SECONDS = 60

/** Failures for which trying again asks nothing of the source: it is not dialled at all. */
const UNDIALLED: readonly ConnectorErrorKind[] = ['driver-missing', 'egress-refused']
/** Failures of an open session that are the connection's. */
const CUT: readonly ConnectorErrorKind[] = ['network', 'tls', 'credentials']

/** How a session did, as far as its connection goes; undefined where that says nothing. */
export type Verdict = 'reached' | 'failed' | 'refused' | undefined

/** What an error says of the connection. @param isOpen whether the session had been opened */
export function verdictOf(error: unknown, isOpen: boolean): Verdict {
  if (!(error instanceof ConnectorError)) return undefined
  const { kind, code } = error
  if (code === 'ABORTED' || code === PAUSED || UNDIALLED.includes(kind)) return undefined
  if (isOpen && !CUT.includes(kind)) return 'reached'
  return kind === 'credentials' ? 'refused' : 'failed'
}

const MINE = 'where company_id = :companyId and id = :sourceId'
/** Of a connection that was changed meanwhile, the former one says nothing. Each change seals the secrets anew. */
const SAME = 'and secrets is not distinct from :secrets'

/** What a session that ends makes of the breaker of its source; null where it makes nothing of it. */
export function changeOf(verdict: Verdict, wasFailing: boolean): string | null {
  if (verdict === undefined || (verdict === 'reached' && !wasFailing)) return null
  if (verdict === 'reached')
    return `update sources set connection_failures = 0, failing_since = null, dial_after = null,
      pause_seconds = 0, trial_until = null ${MINE} ${SAME}`
  const { most, first } = verdict === 'refused' ? CAREFUL : PATIENT
  const pauses = `(dial_after is null and connection_failures + 1 >= ${most} or dial_after <= now())`
  const next = `least(greatest(2 * pause_seconds, ${first}), ${LONGEST})`
  return `update sources set
      connection_failures = connection_failures + 1,
      failing_since = coalesce(failing_since, now()),
      trial_until = null,
      pause_seconds = case when ${pauses} then ${next} else pause_seconds end,
      dial_after = case when ${pauses} then now() + make_interval(secs => ${next}) else dial_after end
    ${MINE} ${SAME}`
}

/** Of the row of a source: whether what is scheduled may dial it now, and as what. */
export const STANDING = `case
    when dial_after is null then 'closed'
    when dial_after > now() then 'open'
    when trial_until > now() then 'trying'
    else 'half_open' end`

/** Takes the one try after a pause; gives nothing when another process has it. */
export const TAKE_TRIAL = `update sources
  set trial_until = now() + make_interval(secs => ${TRIAL_SECONDS})
  ${MINE} and dial_after <= now() and coalesce(trial_until <= now(), true) returning id`

/** The columns of a source whose breaker is closed. */
export const CLOSED: Partial<Source> = {
  connectionFailures: 0,
  failingSince: null,
  dialAfter: null,
  pauseSeconds: 0,
  trialUntil: null,
}

const PAUSED = 'PAUSED'

/** Whether an error says only that a source was left alone. */
export function isPause(error: unknown): boolean {
  return error instanceof ConnectorError && error.code === PAUSED
}

/** What becomes of scheduled work while its source is left alone. */
export function paused(
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
    code: PAUSED,
    engine: sourceType,
    message: `${name} could not be reached${since}${why}: it is tried again${when}, or at once by POST /api/v1/sdk/assets/${id}/test-connection`,
  })
}

/** How many sources are left alone, for operators. */
export function pausedSources(server: Server): Reader {
  const name = 'sources_left_alone'
  return {
    gauges: {
      [name]: { help: 'Sources that could not be reached and wait for the next try', labels: ['engine'] },
    },
    async read() {
      const found = await server.db.statement<{ engine: string; count: number }>(
        `select source_type as engine, cast(count(*) as int) as count from sources
         where dial_after is not null and is_active group by source_type`,
      )
      return { [name]: found.map(({ engine, count }) => ({ labels: { engine }, value: count })) }
    },
  }
}
