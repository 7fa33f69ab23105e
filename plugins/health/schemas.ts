import Joi from 'joi'
import { exampleRecord, held, inData, record, reply } from '../../server/http/envelopes.ts'
import { timeInput } from '../../server/times/time-input.ts'
import { HEALTH_STATUSES } from './health.ts'

const { count, number, time, text, id } = held

const freshness = exampleRecord({
  total_tables: count.example(3),
  fresh: count.example(3),
  stale: count.example(0),
  unknown: count.example(0),
  error: count.example(0),
  warning: count.example(0),
  violated: count.example(0),
  paused: count.example(0),
  last_check_at: time.allow(null).example('2026-03-09T08:05:00.000Z'),
  total_assets: count.example(3),
  fresh_count: count.example(3),
  stale_count: count.example(0),
  unknown_count: count.example(0),
  disabled_count: count.example(0),
  freshness_rate: number.min(0).max(100).example(100),
})

export const summaryQuery = Joi.object<{ since?: Date }>({
  since: timeInput
    .description('The reply also counts what happened at this time or after.')
    .example('2026-03-09T00:00:00.000Z'),
})

const item = record({
  type: Joi.string().description('alert, freshness, schema_drift or checks.'),
  severity: Joi.valid('critical', 'warning'),
  title: Joi.string(),
  asset_id: id.allow(null),
  asset_name: text.allow(null).description('The qualified name.'),
  alert_id: id.optional().description('Present for an alert.'),
})

export const summary = reply(
  inData(
    exampleRecord({
      overall_status: Joi.valid(...HEALTH_STATUSES)
        .description('The worst severity of what needs attention.')
        .example('healthy'),
      alerts: exampleRecord({
        total_rules: count.example(2),
        active_rules: count.example(2),
        recent_alerts: count.description('Opened within the last 24 hours.').example(0),
        unresolved_alerts: count.description('Triggered, acknowledged or snoozed.').example(0),
        open_by_severity: exampleRecord({
          critical: count.example(0),
          warning: count.example(0),
          info: count.example(0),
        }),
        active_alerts: count.description('Triggered or acknowledged.').example(0),
        affected_tables: count.description('Tables with such an alert.').example(0),
        active_destinations: count.description('Destinations that are not switched off.').example(1),
      }),
      freshness: freshness.optional(),
      schema_drift: exampleRecord({
        total_changes: count.description('Within the last 30 days.').example(0),
        unacknowledged: count.example(0),
        critical_count: count.description('Open changes of impact high.').example(0),
        warning_count: count.description('Open changes of impact medium.').example(0),
        info_count: count.description('Open changes of impact low.').example(0),
        last_check: time.allow(null).example('2026-03-09T08:05:00.000Z'),
      }),
      checks: exampleRecord({
        passing: count.description('Active checks whose last result passed.').example(12),
        failing: count.example(0),
        error: count.example(0),
      }).optional(),
      coverage: exampleRecord({
        watched_tables: count
          .description('Tables with an active check or freshness schedule; drift alone does not count.')
          .example(3),
        total_tables: count.description('Tables and views of active sources.').example(10),
      }),
      since: record({
        at: time,
        alerts_opened: count,
        alerts_ended: count.description('Resolved or dismissed.'),
        schema_changes: count,
      })
        .allow(null)
        .description('What happened since the `since` of the query; null without one.')
        .example(null),
      needs_attention: Joi.array()
        .items(item)
        .description(
          'At most 50, the critical first: open alerts, stale tables, open changes, failed checks.',
        )
        .example([]),
      generated_at: time.example('2026-03-09T08:06:00.000Z'),
    }).label('HealthSummary'),
  ),
)
