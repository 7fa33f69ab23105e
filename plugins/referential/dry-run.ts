import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import { tablePath } from '../../connectors/catalog.ts'
import { columnsOf } from '../../server/http/fields.ts'
import type { ReferenceTrial, TriedReference } from './api.ts'
import { configureCheck } from './create.ts'
import { checkFields, type NewCheck } from './fields.ts'
import { judgeOutcome } from './judge.ts'
import type { ReferentialCheck } from './models.ts'
import { presentOrphans } from './present.ts'
import { checkSpecOf } from './record.ts'
import { dryRun } from './schemas.ts'

/** The body of a dry run, validated. */
export type ReferentialDryRun = NewCheck & { asset_id: string }

/** Measures what a check of this body would, judges it as that check would, and stores nothing. It has no computed past. */
export async function dryRunCheck(
  server: Server,
  companyId: string,
  body: ReferentialDryRun,
): Promise<TriedReference & { sql: unknown }> {
  const { source, child, parent } = await configureCheck(server, companyId, body.asset_id, body)
  const check = {
    ...NO_LIMITS,
    ...columnsOf<ReferentialCheck>(checkFields, body),
    childColumnName: body.child_column_name,
    parentColumnName: body.parent_column_name,
  }
  const spec = checkSpecOf(server, check, { source, table: parent })
  if ('kind' in spec) throw new Error(spec.message)
  const { statements, outcome } = await server.plugins.scans.dryRun(
    { source, table: child, check: spec, warnings: [], isEngineValidated: false },
    null,
  )
  const judged = judgeOutcome(check, outcome)
  return {
    sql: statements,
    status: judged.status,
    ...presentOrphans(judged),
    error_message: judged.errorMessage,
  }
}

/** The same for two columns that another feature names. */
export function dryRunReference(
  server: Server,
  companyId: string,
  { sourceId, child, childColumn, parent, parentColumn }: ReferenceTrial,
): Promise<TriedReference> {
  const body = {
    asset_id: sourceId,
    ...{ child_table_path: tablePath(child), child_column_name: childColumn },
    ...{ parent_table_path: tablePath(parent), parent_column_name: parentColumn },
  }
  return dryRunCheck(server, companyId, Joi.attempt(body, dryRun) as ReferentialDryRun)
}

const NO_LIMITS = { maxOrphanCount: null, maxOrphanPercent: null, minChildCount: null, maxChildCount: null }
