/** What an extension that adds a kind of check imports, as `tidemark/check-kind`. */
import type { AlertKind } from '../alerts/api.ts'
import type { CatalogApi, TableContext } from '../catalog/api.ts'

export type { AlertKind, CatalogApi, TableContext }
export * from './kit.ts'
export type {
  AlertTexts,
  Capture,
  CheckChange,
  CheckFields,
  CheckKind,
  CheckMoment,
  CheckResource,
  ChecksApi,
  CheckSpec,
  CheckSummary,
  CheckToStore,
  ClaimedSource,
  DeclaredCheck,
  JudgedSeries,
  Judgement,
  NewDeclaredCheck,
  SlotRange,
  SourceKind,
} from './api.ts'
export { formatName } from '../../connectors/catalog.ts'
export { whereAsset } from '../../server/database/asset-rows.ts'
export type { Database, Transaction } from '../../server/database/database.ts'
export { inCompany } from '../../server/http/access.ts'
export { checkRemoval, managedFields } from '../../server/http/check-owner.ts'
export { dryRunKeys, shared, statementsReply, tablePath } from '../../server/http/check-schemas.ts'
export { trialReply, warningsReply } from '../../server/http/trial-schemas.ts'
export { exampleRecord, held, inData, inItems, reply } from '../../server/http/envelopes.ts'
export {
  columnsOf,
  createKeys,
  defaultsOf,
  patchKeys,
  presentFields,
  replyKeys,
  withoutDefaults,
  type CreateBody,
  type Fields,
  type PatchBody,
} from '../../server/http/fields.ts'
export { joinedPageOf, newestFirst, pageQuery, queryBoolean, type Page } from '../../server/http/page.ts'
export { validateBody } from '../../server/http/validate-body.ts'
