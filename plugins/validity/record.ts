import type { Server } from '@hapi/hapi'
import type { Outcome } from '../../checks/check.ts'
import { advance, STATE_VERSION, type DetectorState } from '../../checks/detector.ts'
import { tablePath } from '../../connectors/catalog.ts'
import { rows, type Transaction } from '../../server/database.ts'
import { isSameSlot } from '../../server/due.ts'
import { judgeRule, startState, type Judged } from './judge.ts'
import { ValidityResult, ValidityRule } from './models.ts'

type Loaded = NonNullable<Awaited<ReturnType<Server['plugins']['catalog']['load']>>>

/** Results that a baseline is rebuilt from. */
const HISTORY = 400

/** A batch of checks for the scan: rules as checks, and what becomes of their outcomes. */
export function batchOf(server: Server, loaded: Loaded, rules: readonly ValidityRule[], claimed: boolean) {
  const isKnown = (rule: ValidityRule) => server.checks.has(rule.ruleType)
  // A check type whose extension was taken away; its checks cannot be measured, and the others can.
  const unknown = rules
    .filter(rule => !isKnown(rule))
    .map((rule): Outcome => ({
      id: `v_${rule.uuid}`,
      status: 'error',
      kind: 'unsupported',
      message: `No extension provides the check type ${rule.ruleType}: add it to EXTENSIONS`,
      durationMs: 0,
    }))
  return {
    checks: rules.filter(isKnown).map(rule => ({
      id: `v_${rule.uuid}`,
      type: server.checks.get(rule.ruleType),
      config: rule.ruleConfig ?? {},
      nullIsValid: rule.treatNullAsValid,
      ...(rule.columnName !== null && { column: rule.columnName }),
    })),
    record: (trx: Transaction, outcomes: readonly Outcome[], at: Date) =>
      record(server, trx, { loaded, rules, outcomes: [...outcomes, ...unknown], at, claimed }),
  }
}

interface Recording {
  loaded: Loaded
  rules: readonly ValidityRule[]
  outcomes: readonly Outcome[]
  at: Date
  /** Whether the sweep's slots are being recorded; a check by hand belongs to no slot. */
  claimed: boolean
}

/**
 * Judges outcomes and stores results, what was learned, and alerts. The rules are locked first, so that two
 * scans of one rule learn one after the other. A slot that another process recorded is left as it is.
 */
async function record(server: Server, trx: Transaction, recording: Recording): Promise<ValidityResult[]> {
  const { loaded, rules, outcomes, at, claimed } = recording
  if (rules.length === 0) return []
  const current = await ValidityRule.query(trx)
    .whereIn(
      'id',
      rules.map(({ id }) => id),
    )
    .orderBy('id')
    .forUpdate()
  const loadedById = new Map(rules.map(rule => [rule.id, rule]))
  const byCheck = new Map(current.map(rule => [`v_${rule.uuid}`, rule]))
  const judgements: { rule: ValidityRule; judged: Judged; state: DetectorState; outcome: Outcome }[] = []
  for (const outcome of outcomes) {
    const rule = byCheck.get(outcome.id)
    if (!rule || (claimed && !isSameSlot(rule, loadedById.get(rule.id)))) continue
    const state = await stateOf(trx, rule)
    judgements.push({ rule, outcome, ...judgeRule(rule, outcome, at, state) })
  }
  if (judgements.length === 0) return []
  const stored = await ValidityResult.query(trx).insert(
    judgements.map(({ rule, judged, outcome }) => ({
      validityRuleId: rule.id,
      ...judged,
      executionDurationMs: Math.round(outcome.durationMs),
      scheduledFor: claimed ? rule.runningSlot : null,
      checkedAt: at,
    })),
  )
  await learn(trx, judgements, claimed)
  for (const { rule, judged } of judgements) await alert(server, trx, loaded, rule, judged)
  return stored
}

async function stateOf(trx: Transaction, rule: ValidityRule): Promise<DetectorState> {
  if (rule.detectorState?.version === STATE_VERSION) return rule.detectorState
  const history = await ValidityResult.query(trx)
    .where('validityRuleId', rule.id)
    .whereNot('status', 'error')
    .orderBy([
      { column: 'checkedAt', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .limit(HISTORY)
  return history.toReversed().reduce(
    (state, result) =>
      advance(state, {
        at: result.checkedAt.getTime() / 1_000,
        value: result.invalidPercent ?? 0,
        total: Number(result.totalRows),
      }),
    startState(rule),
  )
}

async function learn(
  trx: Transaction,
  judgements: readonly { rule: ValidityRule; judged: Judged; state: DetectorState }[],
  claimed: boolean,
): Promise<void> {
  const learned = judgements.map(({ rule, judged, state }) => ({ id: rule.id, status: judged.status, state }))
  await rows(
    trx,
    `update validity_rules r set latest_status = l.status, detector_state = l.state,
       running_slot = case when :claimed then null else r.running_slot end
     from jsonb_to_recordset(cast(:learned as jsonb)) as l(id bigint, status text, state jsonb)
     where r.id = l.id`,
    { claimed, learned: JSON.stringify(learned) },
  )
}

async function alert(
  server: Server,
  trx: Transaction,
  { source, table }: Loaded,
  rule: ValidityRule,
  judged: Judged,
): Promise<void> {
  const { alerts } = server.plugins
  const cause = `v_${rule.uuid}`
  if (judged.status === 'pass' && rule.latestStatus !== 'pass')
    await alerts.resolve(trx, 'validity_failure', cause)
  if (judged.status !== 'fail') return
  const path = tablePath({ catalog: table.catalogName, schema: table.schemaName, name: table.name })
  const limit =
    rule.detectionMode === 'auto'
      ? {
          band: {
            expected: judged.expectedValue,
            low: judged.expectedRangeLow,
            high: judged.expectedRangeHigh,
          },
        }
      : { threshold: rule.alertThresholdPercent ?? 0 }
  const found = `${judged.invalidCount} of ${judged.totalRows} rows are invalid (${round(judged.invalidPercent ?? 0)} %)`
  await alerts.raise(trx, {
    type: 'validity_failure',
    cause,
    severity: rule.severity,
    sourceId: source.id,
    asset: { id: table.id, qualifiedName: table.qualifiedName, assetType: table.kind, tags: table.tags },
    ruleName: rule.name,
    title: rule.errorMessage ?? `${rule.name} on ${path}: ${found}`,
    details: {
      rule_id: cause,
      rule_type: rule.ruleType,
      table_path: path,
      column_name: rule.columnName,
      invalid_count: judged.invalidCount,
      invalid_percent: judged.invalidPercent,
      total_rows: judged.totalRows,
      ...limit,
    },
  })
}

function round(value: number): number {
  return Number(value.toPrecision(3))
}
