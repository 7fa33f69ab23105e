import type { Server } from '@hapi/hapi'
import { guardCheckType } from '../checks/guarded-type.ts'
import { boundMembers, ignoreRejection } from '../connectors/foreign-code.ts'
import type { Connector } from '../connectors/connector.ts'
import { ConnectorError } from '../connectors/errors.ts'
import { reportThrown } from './extension-errors.ts'
import { callWithin } from './with-timeout.ts'

/**
 * Guards the check types and dialects that are added from now on. Sessions of connectors and attempts of destinations are
 * guarded where they are used.
 */
export function guardExtensions(server: Server): void {
  const { connectors, checks, deadlines, pino: log } = server
  checks.prepareWith(type =>
    guardCheckType(type, {
      report: (thrown, call) =>
        void reportThrown(log, `check type ${type.name}`, thrown, { fields: { call } }),
      within: work => callWithin(deadlines.validate, work),
    }),
  )
  connectors.prepareWith(connector => guardDialect(connector, log))
}

/** A connector whose dialect throws ConnectorErrors only: its SQL is written in the midst of requests and scans. */
function guardDialect(connector: Connector, log: Server['pino']): Connector {
  const { name: engine } = connector
  const dialect = boundMembers(connector.dialect) as Connector['dialect'] & Record<string, unknown>
  for (const [name, member] of Object.entries(dialect)) {
    if (typeof member !== 'function') continue
    const write = (...given: unknown[]): unknown => {
      try {
        const written = (member as (...given: unknown[]) => unknown)(...given)
        ignoreRejection(written)
        return written
      } catch (thrown) {
        if (thrown instanceof ConnectorError) throw thrown
        const message = reportThrown(log, `connector ${engine}`, thrown, {
          fields: { call: `dialect.${name}` },
        })
        throw new ConnectorError({ kind: 'other', code: 'THREW', engine, message })
      }
    }
    Object.assign(dialect, { [name]: write })
  }
  return { ...boundMembers(connector), dialect }
}
