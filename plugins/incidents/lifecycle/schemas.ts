import Joi from 'joi'
import { pageQuery, queryInteger, queryWords } from '../../../server/http/page.ts'
import type { AlertKind } from '../../alerts/api.ts'
import { INCIDENT_STATUSES } from '../models.ts'
import { SEVERITIES } from '../severities.ts'

const uuid = Joi.string().guid({ wrapper: false, separator: '-' }).lowercase()

/** A malformed id gets the same reply as an unknown one. */
const UNKNOWN_ID = '00000000-0000-0000-0000-000000000000'
export const idParams = Joi.object({ id: uuid.required().failover(UNKNOWN_ID) })

const MAX_SNOOZE_MINUTES = 525_600
const MAX_POST_MORTEM_CHARACTERS = 50_000

const notes = Joi.string()
  .trim()
  .empty('')
  .allow(null)
  .max(2_000)
  .description('Shown in the timeline, and in the history of its alerts.')
const detail = Joi.string().trim().empty('').allow(null).max(2_000)
const link = Joi.string()
  .empty('')
  .uri({ scheme: ['https', 'http'] })
  .allow(null)
  .max(2_000)

const noteFields = { notes, reason: notes.description('Another name for `notes`.') }
const endFields = {
  ...noteFields,
  action_category: detail.max(100).description('What was done: `reran_job`, `code_change`.'),
  action_detail: detail,
  root_cause_category: detail.max(100).description('What it came from: `pipeline_failure`, `schema_change`.'),
  root_cause_detail: detail,
  pr_url: link.description('A pull request.'),
  job_run_id: detail.max(200).description('A run of a job.'),
  external_link: link.description('A ticket.'),
}

export function incidentSchemas(kinds: readonly AlertKind[]) {
  const words = new Map(
    kinds.flatMap(({ name, aliases = [] }) => [name, ...aliases].map(word => [word, name] as const)),
  )
  return {
    list: Joi.object({
      ...pageQuery(),
      status: queryWords(INCIDENT_STATUSES),
      severity: queryWords(SEVERITIES),
      event_type: queryWords(words).description('The kind of alert that is named as the cause.'),
      asset_id: Joi.string()
        .max(1_000)
        .description('With an alert about this table, or about this source or one of its tables.'),
      alert_id: uuid.description('The incident of this alert.'),
      assignee_id: uuid.allow('none').description('Assigned to this user; `none` for those without one.'),
      search: Joi.string().max(200).description('A part of the title, in any case; no wildcards.'),
      since: Joi.date().iso().description('Opened at this time or after.'),
      until: Joi.date().iso().description('Opened before this time.'),
    }),
    summary: Joi.object({
      days: queryInteger(1, 365).default(30).description('The number of days up to now.'),
    }),
    page: Joi.object(pageQuery()),
    patch: Joi.object({
      assignee_id: uuid.allow(null).description('A user of the company; null for none.'),
      post_mortem: Joi.string()
        .trim()
        .empty('')
        .allow(null)
        .max(MAX_POST_MORTEM_CHARACTERS)
        .description('What happened, why, and what follows from it.'),
    })
      .min(1)
      .required()
      .example({ post_mortem: 'The loader ran before its files had arrived.' })
      .label('UpdateIncidentRequest'),
    comment: Joi.object({ comment: Joi.string().trim().min(1).max(5_000).required() })
      .required()
      .example({ comment: 'The loader was restarted' })
      .label('CommentRequest'),
    note: Joi.object(noteFields).without('notes', 'reason').allow(null).example({ notes: 'Looking into it' }),
    end: Joi.object(endFields)
      .without('notes', 'reason')
      .allow(null)
      .example({ notes: 'The loader ran late', root_cause_category: 'pipeline_failure' })
      .label('EndIncidentRequest'),
    snooze: Joi.object({
      snoozed_until: Joi.date()
        .iso()
        .greater('now')
        .custom((value: Date, helpers) =>
          value.getTime() > Date.now() + MAX_SNOOZE_MINUTES * 60_000
            ? helpers.message({ custom: '{{#label}} must lie within a year' })
            : value,
        )
        .messages({ 'date.greater': '{{#label}} must lie in the future' }),
      duration_minutes: Joi.number().integer().min(1).max(MAX_SNOOZE_MINUTES),
      duration_hours: Joi.number()
        .integer()
        .min(1)
        .max(MAX_SNOOZE_MINUTES / 60),
      ...noteFields,
    })
      .xor('snoozed_until', 'duration_minutes', 'duration_hours')
      .without('notes', 'reason')
      .required()
      .messages({
        'object.missing': 'Give the end of the snooze: duration_minutes, duration_hours or snoozed_until',
      })
      .example({ duration_hours: 24, notes: 'After the release' }),
  }
}
