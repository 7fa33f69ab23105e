import Joi from 'joi'
import { uuid } from '../../../../server/http/input.ts'
import { pageQuery, type Page, queryInteger, queryWords } from '../../../../server/http/page.ts'
import { timeInput } from '../../../../server/times/time-input.ts'
import { SEVERITIES, type Severity } from '../../api.ts'
import { kindWords, type Kinds } from '../../kinds.ts'
import { statusBodies } from '../../lifecycle/status-body.ts'
import { assigneeFilter, assigneeInput } from '../../people/assignee.ts'
import { INCIDENT_STATUSES, type IncidentStatus } from '../models.ts'

const MAX_POST_MORTEM_CHARACTERS = 50_000
/** Alerts that one request moves. */
const MAX_SPLIT = 500

export interface IncidentFilters extends Page {
  status?: IncidentStatus[]
  severity?: Severity[]
  event_type?: string[]
  asset_id?: string
  alert_id?: string
  assignee_id?: string
  search?: string
  since?: Date
  until?: Date
  sort: 'created_at' | 'alert_count'
  order: 'asc' | 'desc'
}

export interface IncidentPatch {
  assignee_id?: string | null
  post_mortem?: string | null
}

export function incidentSchemas(kinds: Kinds) {
  const bodies = statusBodies('Shown in the timeline, and in the history of its alerts.')
  return {
    list: Joi.object<IncidentFilters>({
      ...pageQuery(),
      status: queryWords(INCIDENT_STATUSES),
      severity: queryWords(SEVERITIES),
      event_type: queryWords(kindWords(kinds.all())).description(
        'The kind of alert that is named as the cause.',
      ),
      asset_id: Joi.string()
        .max(1_000)
        .description('With an alert about this table, or about this source or one of its tables.'),
      alert_id: uuid.description('The incident of this alert.'),
      assignee_id: assigneeFilter,
      search: Joi.string().max(200).description('A part of the title, in any case; no wildcards.'),
      since: timeInput.description('Opened at this time or after.'),
      until: timeInput.description('Opened before this time.'),
      sort: Joi.valid('created_at', 'alert_count')
        .default('created_at')
        .description('By age, or by the number of alerts.'),
      order: Joi.valid('asc', 'desc')
        .default('desc')
        .description('desc lists the newest, or those with the most alerts, first.'),
    }),
    summary: Joi.object<{ days: number }>({
      days: queryInteger(1, 365).default(30).description('The number of days up to now.'),
    }),
    patch: Joi.object<IncidentPatch>({
      assignee_id: assigneeInput,
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
    note: bodies.note.example({ notes: 'Looking into it' }),
    end: bodies.end
      .example({ notes: 'The loader ran late', root_cause_category: 'pipeline_failure' })
      .label('EndIncidentRequest'),
    snooze: bodies.snooze,
    split: Joi.object<{ alert_ids: string[] }>({
      alert_ids: Joi.array()
        .items(uuid)
        .min(1)
        .max(MAX_SPLIT)
        .unique()
        .required()
        .description('Alerts of the incident, at least one of which stays.'),
    })
      .required()
      .example({ alert_ids: ['0197f5e2-7c1b-7d3e-9a44-3f6f0a5b9c21'] })
      .label('SplitIncidentRequest'),
    merge: Joi.object<{ into: string }>({
      into: uuid.required().description('The incident that gets the alerts.'),
    })
      .required()
      .example({ into: '0197f5e2-9a00-7b4e-8c11-5d3e7f2a1b90' })
      .label('MergeIncidentRequest'),
    send: Joi.object<{ destination_id: string }>({
      destination_id: uuid.required().description('Who gets it.'),
    })
      .required()
      .example({ destination_id: '0197f5e2-9a00-7b4e-8c11-5d3e7f2a1b90' })
      .label('SendIncidentRequest'),
  }
}
