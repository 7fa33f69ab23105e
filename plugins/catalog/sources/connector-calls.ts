/** Calls into connectors, which may be extensions: they end in time, and throw ConnectorErrors and nothing else. */
import type { Logger } from 'pino'
import type { Connector, Stage } from '../../../connectors/connector.ts'
import { abortedError, ConnectorError, rewordError } from '../../../connectors/errors.ts'
import type { Deadlines } from '../../../server/deadlines.ts'
import { reportThrown } from '../../../server/extension-errors.ts'
import { secretMasker } from '../../../server/telemetry/mask-secrets.ts'
import { callWithin, DeadlineError } from '../../../server/with-timeout.ts'
import { isErrorKind } from './failures.ts'

/** The code of an error after which a session is not used any more: a call of it did not end. */
export const NOT_ENDED = 'NOT_ENDED'

/** How long a call may take. */
export interface CallLimit {
  milliseconds: number
  /** The caller's: the call has some seconds left when it aborts. */
  signal?: AbortSignal
}

/** Calls a connector for one source. */
export interface ConnectorCalls {
  readonly deadlines: Deadlines
  /**
   * Makes one call.
   * @param name what is called, for messages: `query`
   * @param make gets a signal that also aborts when the call is given up
   * @throws ConnectorError of kind `timeout` and with code `NOT_ENDED` for a call that does not end; of kind `other`,
   *   without its words, for anything thrown that is no ConnectorError
   */
  run<Answer>(
    name: string,
    limit: CallLimit,
    make: (signal: AbortSignal) => Answer | PromiseLike<Answer>,
  ): Promise<Answer>
  /** Stages without the secrets of the source. */
  maskStages(stages: readonly Stage[]): Stage[]
}

/**
 * Makes the calls for a source.
 * @param secrets of the source: no message and no line of the log shows them
 */
export function makeConnectorCalls(
  { name: engine }: Pick<Connector, 'name'>,
  {
    secrets,
    log,
    deadlines,
  }: { secrets: readonly string[]; log: Pick<Logger, 'error'>; deadlines: Deadlines },
): ConnectorCalls {
  const mask = secretMasker(secrets)

  /** An error of a connector with a known kind, and without secrets. */
  function clean(error: ConnectorError): ConnectorError {
    const { kind, message, code } = error
    const text = typeof message === 'string' ? mask(message) : `The connector ${engine} gave no reason`
    if (isErrorKind(kind) && typeof code === 'string' && text === message) return error
    return rewordError(
      {
        ...error,
        kind: isErrorKind(kind) ? kind : 'other',
        code: String(code ?? ''),
        engine,
        cause: error.cause,
      },
      text,
    )
  }

  function toConnectorError(thrown: unknown, name: string, signal?: AbortSignal): ConnectorError {
    if (thrown instanceof DeadlineError) return notEndedError(engine, name, thrown.milliseconds)
    if (thrown instanceof ConnectorError) return clean(thrown)
    if (signal?.aborted) return abortedError(engine, thrown)
    const message = reportThrown(log, `connector ${engine}`, thrown, { secrets, fields: { call: name } })
    return new ConnectorError({ kind: 'other', code: 'THREW', engine, message })
  }

  return {
    deadlines,
    async run(name, { milliseconds, signal }, make) {
      try {
        return await callWithin(milliseconds, make, { signal, graceMs: deadlines.grace })
      } catch (thrown) {
        throw toConnectorError(thrown, name, signal)
      }
    },
    maskStages: stages =>
      stages.map(stage => ({
        ...stage,
        message: mask(stage.message),
        ...(stage.error && { error: clean(stage.error) }),
      })),
  }
}

function notEndedError(engine: string, call: string, milliseconds: number): ConnectorError {
  const message = `The connector ${engine} did not end ${call} within ${milliseconds / 1_000} s, and was given up: check that the database answers, and the connector`
  return new ConnectorError({ kind: 'timeout', code: NOT_ENDED, engine, message })
}
