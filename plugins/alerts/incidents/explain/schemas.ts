import Joi from 'joi'
import { held, inData, record, reply } from '../../../../server/http/envelopes.ts'
import { idParam } from '../../../../server/http/input.ts'
import { EVENT_TYPES, type EventType } from './capsule.ts'

const { text, texts, time } = held
const ratio = Joi.number().min(0).max(1)
const list = (item: Joi.Schema) => Joi.array().items(item)
const TABLE_ID = '0196f1c2-9d2e-7a10-b3c4-5d6e7f8091a2'

export const investigationParams = Joi.object({
  id: idParam.description('The id of an incident, of an alert, or of a table or source.'),
})

export const explainBody = Joi.object<{
  asset_id: string
  question?: string | null
  event_type?: EventType | null
}>({
  asset_id: Joi.string()
    .max(1_000)
    .required()
    .description('The id or the qualified name of a table or source.'),
  question: Joi.string().trim().empty('').allow(null).max(2_000).description('Repeated in the reply.'),
  event_type: Joi.string()
    .valid(...EVENT_TYPES)
    .allow(null)
    .description('What to explain; defaults to all that is known.'),
})
  .required()
  .example({ asset_id: TABLE_ID, event_type: 'freshness' })
  .label('ExplainRequest')

const evidence = record({
  event_type: text
    .description('A kind of alert, `failed_run`, or `downstream`.')
    .example('freshness_violation'),
  confidence: ratio.example(0.75),
  timestamp: time,
  summary: text.description('One sentence.').example('orders: 3 h old, expected every 1 h'),
  details: Joi.object().unknown().example({}),
  source: text.description('The qualified name.').example('shop.shop.public.orders'),
  source_id: held.id.example(TABLE_ID),
}).label('Evidence')

const answer = {
  root_cause_hypothesis: text
    .allow(null)
    .description('One sentence; null if nothing that is known explains it.')
    .example('orders: 3 h old, expected every 1 h'),
  confidence: ratio.allow(null).example(0.75),
  suggested_fix: text
    .allow(null)
    .example('See why shop.shop.public.orders was not loaded, and run its job again'),
}

export const capsule = reply(
  inData(
    record({
      investigation_id: held.id
        .description('Of `GET /api/v1/sdk/alerts/investigations/{id}`.')
        .example(TABLE_ID),
      question: text.example('What is wrong with shop.shop.public.orders?'),
      ...answer,
      triggers: list(evidence).description('What may have caused it, the surest first, at most 20.'),
      consequences: list(evidence).description('What lies downstream, with its alerts, at most 20.'),
      open_questions: texts.description('What is not known.').example([]),
    }).label('EvidenceCapsule'),
  ),
)

export const investigation = reply(
  inData(
    record({
      id: held.id.example(TABLE_ID),
      ...answer,
      correlated_events: list(evidence),
      affected_downstream: list(evidence),
    }).label('Investigation'),
  ),
)

export const briefing = reply(
  inData(
    record({
      title: text.example('Data health on 2026-03-14'),
      generated_at: time,
      summary: text.example('2 incidents go on; 1 critical'),
      sections: list(
        record({
          title: text.example('Incidents that go on'),
          items: list(
            Joi.object({
              text: text.required(),
              severity: Joi.string(),
              incident_id: held.id,
              asset_id: held.id.allow(null),
              url: Joi.string().uri(),
            }),
          ),
        }).label('BriefingSection'),
      ),
      insights: texts.example([]),
    }).label('Briefing'),
  ),
)
