import Joi from 'joi'
import { pageQuery, type Page, queryBoolean, queryInteger, queryWords } from '../../../server/http/page.ts'
import { TIMEZONE } from '../../../server/settings/timezones.ts'
import { timeInput } from '../../../server/times/time-input.ts'
import { SEVERITIES, type AlertKind, type Severity } from '../api.ts'
import { ALERT_STATUSES, type AlertStatus } from '../models.ts'
import { ALERT_STATES } from '../replies.ts'
import { DIMENSIONS, type Dimension } from '../dimensions.ts'
import { kindWords } from '../kinds.ts'
import { assigneeFilter, assigneeInput } from '../people/assignee.ts'
import { statusBodies } from './status-body.ts'

export const INBOX_STATUSES = ['triggered', 'acknowledged'] as const

/** The days of each period of trends that callers may name. */
export const TREND_PERIODS: ReadonlyMap<string, number> = new Map([
  ['24h', 1],
  ['7d', 7],
  ['30d', 30],
  ['90d', 90],
])

const ENDING_EXAMPLE = {
  notes: 'The loader ran late',
  root_cause_category: 'pipeline_failure',
  root_cause_detail: 'A file was missing',
  action_category: 'reran_job',
  job_run_id: 'run-7',
}

export interface AlertFilters extends Page {
  status?: AlertStatus[]
  severity?: Severity[]
  event_type?: string[]
  dimension?: Dimension[]
  asset_id?: string
  owner?: string
  assignee_id?: string
  delivery_failed?: boolean
  search?: string
  action_category?: string
  root_cause_category?: string
  since?: Date
  until?: Date
  from_date?: Date
  to_date?: Date
}

/** By default those that need attention. */
export interface InboxQuery extends AlertFilters {
  state?: AlertStatus[]
}

export interface TrendQuery {
  days?: number
  period?: string
  timezone?: string
  asset_id?: string
}

export function alertSchemas(kinds: readonly AlertKind[]) {
  const bodies = statusBodies('Shown in the history, and sent with the end of the alert.')
  const filters = {
    ...pageQuery(),
    severity: queryWords(SEVERITIES),
    event_type: queryWords(kindWords(kinds)),
    dimension: queryWords(DIMENSIONS).description(
      'What they are about, as `GET /api/v1/sdk/health/overview` counts them.',
    ),
    asset_id: Joi.string()
      .max(1_000)
      .description('The id or the qualified name of a table, or of a source with all its tables.'),
    owner: Joi.string()
      .trim()
      .min(1)
      .max(254)
      .description(
        'Alerts about what someone owns: the id of a user or a team, an address, or the name of a team.',
      ),
    assignee_id: assigneeFilter,
    delivery_failed: queryBoolean.description('Whether a message about it reached none of its destinations.'),
    search: Joi.string()
      .max(200)
      .description(
        'A part of the title, the name of the rule, the qualified name, the notes or the resolution, in any case; no wildcards.',
      ),
    action_category: Joi.string().max(100).description('What was done, as stated when it ended.'),
    root_cause_category: Joi.string().max(100).description('What it came from, as stated when it ended.'),
    since: timeInput.description('Opened at this time or after.'),
    until: timeInput.description('Opened before this time.'),
    from_date: timeInput.description('Another name for `since`.'),
    to_date: timeInput.description('Opened at this time or before.'),
  }
  return {
    none: Joi.object({}),
    page: Joi.object<Page>(pageQuery()),
    alerts: Joi.object<AlertFilters>({ ...filters, status: queryWords(ALERT_STATUSES) }),
    inbox: Joi.object<InboxQuery>({
      ...filters,
      status: queryWords(INBOX_STATUSES).description('Defaults to both.'),
      state: queryWords(ALERT_STATES).description('In place of `status`; also of alerts that are over.'),
    }).without('state', 'status'),
    trends: Joi.object<TrendQuery>({
      days: queryInteger(1, 365).description('The number of days, including today; defaults to 30.'),
      period: Joi.string()
        .valid(...TREND_PERIODS.keys())
        .description('In place of `days`. `24h` counts by the hour, other periods by the day.'),
      timezone: TIMEZONE.description(
        'The zone whose midnights separate the days; defaults to the setting TIMEZONE.',
      ),
      asset_id: filters.asset_id,
    }).without('period', 'days'),
    patch: Joi.object<{ assignee_id: string | null }>({ assignee_id: assigneeInput.required() })
      .required()
      .label('UpdateAlertRequest'),
    transition: bodies.note.example({ notes: 'Looking into it' }),
    ending: bodies.end.example(ENDING_EXAMPLE).label('EndAlertRequest'),
    snooze: bodies.snooze,
  }
}
