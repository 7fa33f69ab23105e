import { requireScope, type AnyRequest } from '../../../server/http/access.ts'
import type { CheckDeps } from '../deps.ts'

/** Whether the fields of a check, as a caller writes them, hold SQL of the caller. */
export function hasCallerSql(types: CheckDeps['types'], fields: Record<string, unknown>): boolean {
  const given = new Set([fields.rule_type, fields.metric_type])
  const written = [fields.filter, fields.right_filter, fields.freshness_expression]
  return types.all().some(type => type.userSql && given.has(type.name)) || written.some(text => text != null)
}

/**
 * Requires write scope of who tries SQL of their own: it may read all that the login of the source may, tagged columns
 * included, and its outcome says what they hold.
 * @throws 403
 */
export function requireScopeForSql(request: AnyRequest, checks: readonly Record<string, unknown>[]): void {
  if (checks.some(fields => hasCallerSql(request.server.checks, fields)))
    requireScope(request, 'read-write', 'SQL of your own')
}
