import Joi from 'joi'
import { tablePath } from '../../connectors/catalog.ts'
import { columnsOf } from '../../server/http/fields.ts'
import type { ReferenceTrial, TriedReference } from './api.ts'
import { configureCheck, NO_LIMITS } from './create.ts'
import type { ReferentialDeps } from './deps.ts'
import { checkFields, type NewCheck } from './fields.ts'
import { judgeOutcome } from './judge.ts'
import { numbersOf, type ReferentialCheck } from './models.ts'
import { presentOrphans } from './present.ts'
import { checkSpecOf } from './kind.ts'
import { dryRun } from './schemas.ts'

/** The body of a dry run, validated. */
export type ReferentialDryRun = NewCheck & { asset_id: string }

/** Measures what a check of this body would, judges it as that check would, and stores nothing. It has no computed past. */
export async function dryRunCheck(
  deps: ReferentialDeps,
  companyId: string,
  body: ReferentialDryRun,
): Promise<TriedReference & { sql: unknown }> {
  const { source, child, parent, window } = await configureCheck(deps, companyId, body.asset_id, body)
  const check = {
    ...NO_LIMITS,
    ...columnsOf<ReferentialCheck>(checkFields, body),
    filter: body.filter,
    columnName: body.child_column_name,
    parentColumnName: body.parent_column_name,
  }
  const spec = checkSpecOf(deps.catalog, check, { source, table: parent })
  if ('message' in spec) throw new Error(spec.message)
  const { statements, outcome } = await deps.checks.dryRun(
    { source, table: child, check: spec, warnings: [], isEngineValidated: false, window },
    null,
  )
  const { judged } = judgeOutcome(check, outcome)
  return {
    sql: statements,
    status: judged.status,
    ...presentOrphans(numbersOf(judged)),
    error_message: judged.errorMessage,
  }
}

/** The same for two columns that another feature names. */
export function dryRunReference(
  deps: ReferentialDeps,
  companyId: string,
  { sourceId, child, childColumn, parent, parentColumn }: ReferenceTrial,
): Promise<TriedReference> {
  const body = {
    asset_id: sourceId,
    child_table_path: tablePath(child),
    child_column_name: childColumn,
    parent_table_path: tablePath(parent),
    parent_column_name: parentColumn,
  }
  return dryRunCheck(deps, companyId, Joi.attempt(body, dryRun) as ReferentialDryRun)
}
