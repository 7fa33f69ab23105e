import type { Server } from '@hapi/hapi'
import { advance, STATE_VERSION, type DetectorState } from '../../checks/detector.ts'
import { tablePath } from '../../connectors/catalog.ts'
import { companyOf, insertAll, rows, type Transaction } from '../../server/database.ts'
import { judgeRule, startState, type Judged } from './judge.ts'
import { ValidityResult, type ValidityRule } from './models.ts'
import { scheduleOf } from './rules.ts'

type Loaded = Parameters<Feature['record']>[1]
type Feature = Parameters<Server['plugins']['scans']['contribute']>[0]
/** A rule, locked, with what the scan says of it. */
type Taken = { row: ValidityRule } & Pick<Parameters<Feature['record']>[2][number], 'outcome' | 'slot'>

/** Results that a baseline is rebuilt from. */
const HISTORY = 400

/** Judges outcomes and stores results, what was learned, and alerts. */
export async function record(
  server: Server,
  trx: Transaction,
  loaded: Loaded,
  taken: readonly Taken[],
  at: Date,
): Promise<ValidityResult[]> {
  const judgements: Judgement[] = []
  for (const { row: rule, outcome, slot } of taken) {
    const state = await stateOf(server, trx, rule)
    judgements.push({ rule, slot, ms: outcome.durationMs, ...judgeRule(rule, outcome, at, state) })
  }
  const stored = await insertAll(
    judgements.map(({ rule, judged, slot, ms }) => ({
      validityRuleId: rule.id,
      ...judged,
      executionDurationMs: Math.round(ms),
      scheduledFor: slot,
      checkedAt: at,
    })),
    chunk => ValidityResult.query(trx).insert(chunk),
  )
  await learn(trx, judgements)
  for (const { rule, judged } of judgements) await alert(server, trx, loaded, rule, judged)
  return stored
}

interface Judgement {
  rule: ValidityRule
  slot: Date | null
  /** Milliseconds that measuring took. */
  ms: number
  judged: Judged
  state: DetectorState | null
}

async function stateOf(server: Server, trx: Transaction, rule: ValidityRule): Promise<DetectorState | null> {
  if (rule.detectionMode === 'manual') return null
  if (rule.detectorState?.version === STATE_VERSION) return rule.detectorState
  const nothing = startState(rule, await scheduleOf(server, trx, rule, { lock: false }))
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
      state &&
      advance(state, {
        at: result.checkedAt.getTime() / 1_000,
        value: result.invalidPercent ?? 0,
        total: Number(result.totalRows),
      }),
    nothing,
  )
}

async function learn(trx: Transaction, judgements: readonly Judgement[]): Promise<void> {
  const learned = judgements.map(({ rule, judged, state }) => ({ id: rule.id, status: judged.status, state }))
  await rows(
    trx,
    `update validity_rules r set latest_status = l.status, detector_state = l.state
     from jsonb_to_recordset(cast(:learned as jsonb)) as l(id bigint, status text, state jsonb)
     where r.company_id = :companyId and r.id = l.id`,
    { learned: JSON.stringify(learned), companyId: companyOf(trx) },
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
