import Joi from 'joi'
import { exampleIn, exampleRecord, held, inData, inPage, record } from '../../server/http/envelopes.ts'
import { pageQuery, type Page } from '../../server/http/page.ts'

const MAX_IDS = 1_000

export const emptyQuery = Joi.object({})

const queueName = Joi.string()
  .max(200)
  .pattern(/^[\w./-]+$/)
  .messages({ 'string.pattern.base': '{{#label}} has letters, digits and . _ / - only, as in scans.run' })
  .description('The name of a queue, such as `scans.run`.')

export const deadJobQuery = Joi.object<Page & { queue?: string }>({ queue: queueName, ...pageQuery() })

/** The body of a change of dead jobs: exactly one of them is given. */
export interface WhichDeadJobs {
  ids?: string[]
  queue?: string
  all?: true
}

/** Changing all dead jobs takes `all`, never just a missing filter. */
export const whichDeadJobs = Joi.object<WhichDeadJobs>({
  ids: Joi.array()
    .items(Joi.string().guid())
    .min(1)
    .max(MAX_IDS)
    .unique()
    .description('The ids of the jobs. Those that are not there any more are left out of the count.'),
  queue: queueName,
  all: Joi.valid(true).description('All that failed for good.'),
})
  .required()
  .xor('ids', 'queue', 'all')
  .example({ queue: 'scans.run' })
  .label('WhichDeadJobs')

const queue = exampleRecord({
  queue: held.text.example('scans.run'),
  waiting: held.count.description('Jobs that may start now.').example(2),
  later: held.count.description('Jobs that start later, such as further tries.').example(0),
  running: held.count.example(1),
  dead: held.count.description('Jobs that failed for good.').example(0),
  oldest_waiting_at: held.time
    .allow(null)
    .description('When the job that waits longest could have started.')
    .example('2030-01-15T09:30:00.000Z'),
  lag_seconds: held.number.min(0).description('Seconds since then.').example(1.5),
}).label('JobQueue')

const extension = exampleRecord({
  name: held.text.example('acme-tidemark'),
  version: held.text.allow(null).example('1.2.0'),
  adds: Joi.array()
    .items(
      record({ what: held.text.example('connector'), name: held.text.example('acme') }).label(
        'ExtensionPart',
      ),
    )
    .description('What it adds to choose from.')
    .example([{ what: 'connector', name: 'acme' }]),
}).label('Extension')

const operations = exampleRecord({
  status: Joi.valid('ok', 'degraded', 'draining').example('ok'),
  jobs: Joi.valid('up', 'late', 'down')
    .description('late: jobs have waited for five minutes, and no worker takes them up.')
    .example('up'),
  workers: Joi.valid('up', 'stuck', 'none')
    .description('Those of the process that answers: none when it only serves requests.')
    .example('up'),
  versions: exampleRecord({
    tidemark: held.text.example('1.0.0'),
    node: held.text.example('24.0.0'),
    postgresql: held.text.example('16.4'),
    plugin_api: held.text.example('1.0.0'),
  }).label('Versions'),
  extensions: Joi.array()
    .items(extension)
    .description('What the setting EXTENSIONS adds, in its order.')
    .example([exampleIn(extension)]),
  uptime_seconds: held.count.description('Since the process that answers has started.').example(86_400),
  dashboard_url: held.text
    .allow(null)
    .description('The job dashboard of the installation, where its operators have published one.')
    .example(null),
  queues: Joi.array()
    .items(queue)
    .description("The company's jobs by queue, in the order of names.")
    .example([exampleIn(queue)]),
}).label('Operations')

const deadJob = exampleRecord({
  id: held.id.example('019a2f3e-6a51-7c7e-9d0b-3f1c2b4a5d6e'),
  queue: held.text.example('scans.run'),
  died_at: held.time.example('2030-01-15T09:30:00.000Z'),
  attempts: held.count.example(3),
  reason: held.text.allow(null).description('Why its last try failed.').example('no answer within 60 s'),
  asset_id: held.id
    .allow(null)
    .description('The table or source it is about.')
    .example('0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d'),
  asset_type: Joi.valid('table', 'source').allow(null).example('table'),
  asset_name: held.text
    .allow(null)
    .description('Null also when it was removed.')
    .example('shop.shop.public.orders'),
  data: Joi.object()
    .unknown()
    .description('The ids that the job takes.')
    .example({ table_id: '0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d' }),
}).label('DeadJob')

const counted = (what: string, label: string) =>
  inData(exampleRecord({ [what]: held.count.description('How many jobs.').example(2) }).label(label))

export const replies = {
  operations: inData(operations),
  deadJobs: inPage(deadJob),
  redriven: counted('redriven', 'RedrivenJobs'),
  discarded: counted('discarded', 'DiscardedJobs'),
}
