/** What people send with a change of the status of an alert, or of what has alerts. */
import Joi from 'joi'
import { orNull } from '../../../server/http/input.ts'
import { timeInput } from '../../../server/times/time-input.ts'
import { RESOLUTION_FIELDS, type ResolutionField } from '../api.ts'

/** A change of the status of many alerts, which a person asks for. */
export interface StatusRequest {
  to: 'acknowledged' | 'snoozed' | 'resolved' | 'dismissed'
  /** `user:<id>` or `key:<id>`. */
  actor: string
  reason: string | null
  /** The end of a snooze. */
  until?: Date
  /** What is stated about the end of the alert. */
  resolution?: Record<string, string>
}

/** What a person sends with a change of status. */
export type StatusBody = {
  reason?: string | null
  /** Another name for `reason`. */
  notes?: string | null
  snoozed_until?: Date
  duration_minutes?: number
  duration_hours?: number
} & Partial<Record<ResolutionField, string | null>>

const MAX_SNOOZE_MINUTES = 525_600

const detail = Joi.string().trim().empty('').allow(null).max(2_000)
const category = detail.max(100)
const link = Joi.string()
  .empty('')
  .uri({ scheme: ['https', 'http'] })
  .allow(null)
  .max(2_000)

/** What people may state about the end of an alert. */
const resolutionFields: Record<ResolutionField, Joi.Schema> = {
  action_category: category.description('What was done: `reran_job`, `code_change`.').example('code_change'),
  action_detail: detail.example('Reverted the release'),
  root_cause_category: category
    .description('What it came from: `pipeline_failure`, `schema_change`.')
    .example('pipeline_failure'),
  root_cause_detail: detail.example('A file arrived late'),
  pr_url: link.description('A pull request.').example('https://github.com/example/shop/pull/7'),
  job_run_id: category.max(200).description('A run of a job.').example('run-7'),
  external_link: link.description('A ticket.').example('https://tickets.example.com/7'),
}

const snoozeFields = {
  snoozed_until: timeInput
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
}

/**
 * The schemas of `StatusBody`: with a note alone, with what is stated about the end, and with the end of a snooze.
 * @param reasonDescription where the reason is shown
 */
export function statusBodies(reasonDescription: string) {
  const reason = detail.description(reasonDescription)
  const noteFields = { reason, notes: reason.description('Another name for `reason`.') }
  const oneNote = (body: Joi.ObjectSchema<StatusBody>) => body.without('notes', 'reason')
  return {
    note: orNull(oneNote(Joi.object(noteFields))),
    end: orNull(oneNote(Joi.object({ ...noteFields, ...resolutionFields }))),
    snooze: oneNote(
      Joi.object({ ...snoozeFields, ...noteFields }).xor(
        'snoozed_until',
        'duration_minutes',
        'duration_hours',
      ),
    )
      .required()
      .messages({
        'object.missing': 'Give the end of the snooze: duration_minutes, duration_hours or snoozed_until',
      })
      .example({ duration_hours: 24, notes: 'After the release' }),
  }
}

/** What a body asks for. The end of a snooze means nothing for other statuses. */
export function readStatusBody(
  body: StatusBody | null,
): Pick<StatusRequest, 'reason' | 'until' | 'resolution'> {
  const given = body ?? {}
  const minutes = given.duration_minutes ?? 60 * (given.duration_hours ?? 0)
  const stated = RESOLUTION_FIELDS.flatMap(field => (given[field] ? [[field, given[field]] as const] : []))
  return {
    reason: given.reason ?? given.notes ?? null,
    until: given.snoozed_until ?? new Date(Date.now() + minutes * 60_000),
    ...(stated.length > 0 && { resolution: Object.fromEntries(stated) }),
  }
}
