import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import { sql } from '../../../connectors/sql.ts'
import type { CheckType } from '../../../checks/check.ts'
import type { Connection, Connector } from '../../../connectors/connector.ts'
import type { DestinationType } from '../../../plugins/alerts/destinations/destination.ts'
import { answeredOutcome } from '../../../plugins/alerts/destinations/destination.ts'
import { sqlite, type SqliteConfig } from '../../../plugin-template/connector.ts'

/**
 * The mistakes that the extension makes now, by the function: what it does in place of what is right. A test sets them, and
 * `mend` takes them all away.
 */
export const faults: Record<string, ((...given: never[]) => unknown) | undefined> = {}

export function mend(): void {
  for (const name of Object.keys(faults)) delete faults[name]
}

/** Never ends, whatever is asked. */
export const hang = () => new Promise(() => {})

/** The right function, or the mistake that is made in its place. */
function faulty<Given extends unknown[], Answer>(name: string, right: (...given: Given) => Answer) {
  return (...given: Given): Answer => ((faults[name] as typeof right | undefined) ?? right)(...given)
}

/** SQLite, with a secret that it has no use for. */
const engine: Connector<SqliteConfig> = {
  ...sqlite,
  name: 'badengine',
  label: 'Bad Engine',
  config: sqlite.config.keys({ api_token: Joi.string().meta({ secret: true }) }),
  capabilities: { ...sqlite.capabilities, lastModified: true, estimates: true },
  dialect: {
    ...sqlite.dialect,
    countNonNull: faulty('countNonNull', sqlite.dialect.countNonNull),
  },
  connect: faulty('connect', async (config, options) => {
    const connection = await sqlite.connect(config, options)
    return {
      introspect: faulty('introspect', scope => connection.introspect(scope)),
      query: faulty('query', (statement, limits) => connection.query(statement, limits)),
      viewDefinitions: faulty('viewDefinitions', given => connection.viewDefinitions!(given)),
      lastModified: faulty('lastModified', async () => new Map<string, Date>()),
      estimates: faulty('estimates', async () => new Map<string, number>()),
      close: faulty('close', () => connection.close()),
    } satisfies Connection
  }),
  test: faulty('test', (config, options) => sqlite.test(config, options)),
}

/** A destination that is delivered to without a receiver. */
const destination: DestinationType<{ to: string; token: string }> = {
  name: 'badhook',
  label: 'Bad Hook',
  config: Joi.object({ to: Joi.string().required(), token: Joi.string().meta({ secret: true }) }),
  unavailable: faulty('unavailable', () => null),
  compose: faulty('compose', ({ alert }) => alert.title),
  deliver: faulty('deliver', async () => answeredOutcome(200)),
}

const metric: CheckType = {
  family: 'metric',
  name: 'badmetric',
  description: 'Counts rows, or fails to.',
  config: Joi.object({}),
  column: 'optional',
  validateConfig: faulty('validateConfig', (): string | null | Promise<string | null> => null),
  configWarnings: faulty('configWarnings', (): string[] => []),
  measures: faulty('measures', () => ({ rows: sql`count(*)` })),
  readMeasures: faulty('readMeasures', ({ rows = null }): number | null => rows),
}

const rule: CheckType = {
  family: 'rule',
  name: 'BAD_RULE',
  description: 'Finds all rows invalid.',
  config: Joi.object({}),
  column: 'ignored',
  measures: () => ({ rows: sql`count(*)` }),
  readMeasures: faulty('readCounts', ({ rows }, total) => ({ total, invalid: rows ?? 0 })),
  samples: faulty('samples', () => ({ where: sql`1 = 1` })),
}

export const plugin = {
  name: 'faulty',
  register(server: Server) {
    server.connectors.add(engine as unknown as Connector)
    server.destinations.add(destination as DestinationType)
    server.checks.add(metric, rule)
    server.plugins.alerts.addKind({
      name: 'bad_kind',
      label: 'bad',
      facts: faulty('facts', (): [] => []),
      ruleIdOf: faulty('ruleIdOf', () => 'rule'),
    })
  },
}
