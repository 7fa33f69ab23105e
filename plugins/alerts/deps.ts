import type { Logger } from 'pino'
import type { Database } from '../../server/database/database.ts'
import type { Deadlines } from '../../server/deadlines.ts'
import type { Jobs } from '../../server/jobs/jobs.ts'
import type { Registry } from '../../server/registry.ts'
import type { EgressPolicy } from '../../server/security/egress.ts'
import type { Vault } from '../../server/security/vault.ts'
import type { Config } from '../../server/settings/config.ts'
import type { LookUps } from './api.ts'
import type { DestinationType } from './destinations/destination.ts'
import type { Kinds } from './kinds.ts'

/** What the parts of alerts are made from. A function that needs little of it takes that part alone. */
export interface Deps {
  db: Database
  jobs: Jobs
  config: Config
  log: Logger
  vault: Vault
  egress: EgressPolicy
  deadlines: Deadlines
  kinds: Kinds
  /** The types of destinations. */
  types: Registry<DestinationType>
  /** Those that features above have connected so far. */
  lookUps: Partial<LookUps>
}
