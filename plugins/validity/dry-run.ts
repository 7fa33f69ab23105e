import type { Server } from '@hapi/hapi'
import { configureRule, type NewRule } from './create.ts'
import { judgeRule, startState } from './judge.ts'
import { asked, scheduleOf } from './rules.ts'

/** The body of a dry run, validated. */
export interface DryRun extends NewRule {
  asset_id: string
  lookback_days: number
}

/** Measures what a rule of this body would, judges it as that rule would, and stores nothing. */
export async function dryRun(server: Server, companyId: string, body: DryRun): Promise<object> {
  const configured = await configureRule(server, companyId, body.asset_id, body)
  const schedule = await server.db.company(companyId, trx => scheduleOf(server, trx, asked(body)))
  const { statements, outcome, at, past } = await server.plugins.scans.tryOut(configured, {
    days: body.lookback_days,
    interval: body.check_interval,
  })
  const rule = {
    alertThresholdPercent: body.alert_threshold_percent ?? null,
    sensitivity: body.sensitivity,
  }
  let state = startState(
    {
      detectionMode: body.detection_mode,
      checkInterval: body.check_interval,
      operatingPeriodMode: body.operating_period_mode,
    },
    schedule,
  )
  let failing = 0
  const points = 'points' in past ? past.points : []
  for (const point of points) {
    const said = judgeRule(rule, point.outcome, point.at, state)
    state = said.state
    if (said.judged.status === 'fail') failing += 1
  }
  const { judged } = judgeRule(rule, outcome, at, state)
  return {
    sql: statements,
    status: judged.status,
    total_rows: judged.totalRows,
    invalid_count: judged.invalidCount,
    invalid_percent: judged.invalidPercent,
    expected_value: judged.expectedValue,
    expected_range_low: judged.expectedRangeLow,
    expected_range_high: judged.expectedRangeHigh,
    learning: judged.isLearning,
    error_message: judged.errorMessage,
    history: {
      lookback_days: body.lookback_days,
      timestamp_column: 'column' in past ? past.column : null,
      points: points.length,
      failing,
      message:
        'message' in past
          ? `Its past is not known: ${past.message}`
          : `Of ${points.length} ${body.check_interval} checks in the last ${body.lookback_days} days, ${failing} would have failed`,
    },
  }
}
