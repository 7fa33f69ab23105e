/** Which checks that are there already judge clauses, so that a contract makes no second ones. */
import { isDeepStrictEqual } from 'node:util'
import { parseDuration } from '../../../server/settings/durations.ts'
import type { CheckFields, StoredCheck, WantedCheck } from '../../checks/api.ts'
import type { ContractNode } from '../elements.ts'
import { findTheSame } from '../../checks/kit.ts'
import { boundsOf, ruleOfCheck } from '../exchange/draft-quality.ts'
import type { Clause } from '../enforcement/clause.ts'
import { customProperty } from '../enforcement/document.ts'
import type { PlannedClause } from '../enforcement/plan.ts'

/**
 * Finds the checks that judge clauses: one that finds the same wrong as the check that the clause wants, or the one
 * that a draft wrote the clause from. One check may judge several clauses, as a range does of both its bounds.
 * @param checks those that may be adopted
 * @returns by the keys of clauses
 */
export function findAdoptable(
  clauses: readonly PlannedClause[],
  checks: readonly StoredCheck[],
): Map<string, StoredCheck> {
  const ofTable = Map.groupBy(
    checks.filter(({ fields }) => fields.is_active === true),
    ({ tableId }) => tableId,
  )
  const optionsOf = Map.groupBy(
    clauses.filter(({ clause }) => clause.demand.of === 'option'),
    ({ clause: { table, column } }) => JSON.stringify([table, column]),
  )
  const found = new Map<string, StoredCheck>()
  for (const item of clauses) {
    const { clause, tableId, check: wanted } = item
    if (tableId === null || !needsCheck(item)) continue
    const siblings = optionsOf.get(JSON.stringify([clause.table, clause.column])) ?? []
    const candidates = ofTable.get(tableId) ?? []
    const adopted =
      candidates.find(check => isWrittenFrom(clause, check, siblings)) ??
      candidates.find(
        check =>
          wanted !== null &&
          check.kind === wanted.kind &&
          findTheSame(withoutNulls(check.fields, wanted), withoutNulls(wanted.fields, wanted)),
      )
    if (adopted) found.set(clause.key, adopted)
  }
  return found
}

/** Fields without what they say of NULL, where the column has none. */
function withoutNulls(
  { treat_null_as_valid: treatNull, ...fields }: CheckFields,
  wanted: WantedCheck,
): CheckFields {
  const column = wanted.table.table.columns.find(({ name }) => name === wanted.fields.column_name)
  const hasNone = column?.nullable === false || wanted.fields.rule_type === 'NOT_NULL'
  return hasNone ? fields : { ...fields, treat_null_as_valid: treatNull }
}

/** Whether the catalog alone cannot judge it. A clause whose own check was refused may have been written from one that runs. */
function needsCheck({ clause: { demand }, verdict, check }: PlannedClause): boolean {
  if (check !== null) return true
  return verdict?.status === 'not_enforced' && ['quality', 'option', 'freshness'].includes(demand.of)
}

/** Whether a clause says what a check says, as a draft writes it. */
function isWrittenFrom(clause: Clause, check: StoredCheck, siblings: readonly PlannedClause[]): boolean {
  const { demand } = clause
  if (demand.of === 'freshness') return isSchedule(demand.seconds, clause.column, check)
  if (demand.of === 'quality') {
    const isNamed = customProperty(demand.rule, 'tidemarkCheck') === check.id
    return isNamed && isDeepStrictEqual(ruleOfCheck(check), termsOf(demand.rule))
  }
  if (demand.of !== 'option' || !demand.checks.includes(check.id)) return false
  const bounds = Object.entries(boundsOf(check))
  const isPromised = ([option, value]: [string, unknown]) =>
    siblings.some(
      ({ clause: { demand: other } }) =>
        other.of === 'option' && other.option === option && other.value === value,
    )
  return bounds.some(([option]) => option === demand.option) && bounds.every(isPromised)
}

const TERM = /^(must\w*|type|metric|unit|query|arguments)$/

/** The part of a quality rule that says what must hold. */
function termsOf(rule: ContractNode): ContractNode {
  return Object.fromEntries(Object.entries(rule).filter(([name]) => TERM.test(name)))
}

/** Whether a freshness schedule alerts after just the time that a clause names, by its column if it names one. */
function isSchedule(seconds: number, column: string | null, { kind, fields }: StoredCheck): boolean {
  const { sla_threshold: threshold, freshness_column: watched, monitoring_mode: mode } = fields
  return (
    kind === 'freshness' &&
    mode === 'explicit' &&
    typeof threshold === 'string' &&
    parseDuration(threshold) === seconds &&
    (column === null || (typeof watched === 'string' && watched.toLowerCase() === column.toLowerCase()))
  )
}
