/** What is asked and answered of events of OpenLineage. */
import Joi from 'joi'
import {
  exampleRecord,
  held,
  inData,
  record,
  reply,
  withoutExamples,
} from '../../../server/http/envelopes.ts'
import { MAX_DATASETS, MAX_NAME_LENGTH, RUN_STATES } from '../openlineage/event.ts'
import { describeObject, rawBody } from './raw-body.ts'
import { MAX_BATCH_EVENTS } from './read-body.ts'

const name = (example: string) => ({
  type: 'string',
  minLength: 1,
  maxLength: MAX_NAME_LENGTH,
  examples: [example],
})

const dataset = describeObject(
  'A dataset; unknown facets are left aside.',
  {
    namespace: name('postgres://db.example.com:5432'),
    name: name('shop.public.orders'),
    facets: describeObject('Facets such as `columnLineage`, `symlinks` and `ownership`.'),
  },
  ['namespace', 'name'],
)

const FIRST_ONLY = `The first ${MAX_DATASETS} are stored; the reply counts the others.`

const fields = describeObject(
  'A RunEvent, JobEvent or DatasetEvent of OpenLineage, specification 2-0-2.',
  {
    eventTime: { type: 'string', format: 'date-time' },
    eventType: { type: 'string', enum: [...RUN_STATES] },
    producer: { type: 'string' },
    schemaURL: { type: 'string' },
    run: describeObject(
      'Present in a RunEvent.',
      { runId: { type: 'string', format: 'uuid' }, facets: { type: 'object' } },
      ['runId'],
    ),
    job: describeObject(
      'Present in a RunEvent or JobEvent.',
      { namespace: name('airflow'), name: name('daily_sales'), facets: { type: 'object' } },
      ['namespace', 'name'],
    ),
    inputs: { type: ['array', 'null'], items: dataset, description: FIRST_ONLY },
    outputs: { type: ['array', 'null'], items: dataset, description: FIRST_ONLY },
    dataset,
  },
  ['eventTime'],
)

const event = {
  ...fields,
  anyOf: [{ required: ['job'] }, { required: ['dataset'] }],
  dependentRequired: { run: ['job'], eventType: ['run', 'job'] },
}

const EVENT = {
  eventType: 'COMPLETE',
  eventTime: '2026-05-04T10:00:00.000Z',
  producer: 'https://github.com/apache/airflow',
  schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent',
  run: { runId: '0197f3a2-5b1c-7e7f-9d3e-2f6a1c4b8d99', facets: {} },
  job: { namespace: 'airflow', name: 'shop.daily_sales', facets: {} },
  inputs: [{ namespace: 'postgres://db.example.com:5432', name: 'shop.public.orders' }],
  outputs: [{ namespace: 'postgres://db.example.com:5432', name: 'shop.public.daily_sales' }],
}

export const eventBody = rawBody(event, EVENT)

export const eventsBody = rawBody({ type: 'array', items: event, maxItems: MAX_BATCH_EVENTS }, [EVENT])

const omitted = {
  omitted_datasets: held.count
    .description(`Datasets and other names that were cut: those after the first ${MAX_DATASETS} of a list.`)
    .example(0),
  omitted_edges: held.count
    .description('Edges that were cut: a run stores 20,000 pairs of an input and an output.')
    .example(0),
}

export const eventReply = reply(
  inData(
    exampleRecord({
      tables: held.count.description('Datasets of the event that are tables of a source.').example(2),
      outside: held.count.description('Datasets that no source has.').example(0),
      edges: held.count
        .description('Edges that it reports, with what earlier events of its run named.')
        .example(1),
      ...omitted,
    }).label('LineageEventOutcome'),
  ),
  201,
)

export const eventsReply = reply(
  record(
    {
      status: Joi.valid('success', 'partial_success'),
      summary: record({
        received: held.count,
        successful: held.count,
        failed: held.count,
        retriable: held.count,
        non_retriable: held.count,
        ...withoutExamples(omitted),
      }),
      failed_events: Joi.array().items(
        record({
          index: held.count,
          reason: held.text,
          retriable: held.flag.description('Whether the same event may succeed later.'),
        }),
      ),
    },
    {
      status: 'success',
      summary: {
        received: 2,
        successful: 2,
        failed: 0,
        retriable: 0,
        non_retriable: 0,
        omitted_datasets: 0,
        omitted_edges: 0,
      },
      failed_events: [],
    },
  ).label('LineageBatchOutcome'),
)
