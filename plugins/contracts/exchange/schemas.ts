import Joi from 'joi'
import { held, inData, record, reply } from '../../../server/http/envelopes.ts'
import { queryBoolean } from '../../../server/http/page.ts'
import { startedReplies, startedRun } from '../../../server/http/run-accepted.ts'
import { CLAUSE_KINDS, DOMAINS } from '../enforcement/clause.ts'
import { bindingFields, type ContractBinding } from '../enforcement/upload.ts'
import type { ExportRequest } from '../models.ts'

const assetId = Joi.string()
  .max(1_000)
  .required()
  .description('A source or a table, by id or qualified name.')

export const assetParams = Joi.object({ asset_id: assetId })

/** Parts of contracts, separated by commas; others are reported as unsupported. */
const domainList = (what: string) =>
  Joi.string()
    .allow('')
    .max(500)
    .description(`${what}: of ${DOMAINS.join(', ')}, separated by commas.`)

const mode = Joi.string()
  .valid('extended', 'odcs-pure')
  .default('extended')
  .description('odcs-pure leaves out custom properties of this service.')

const choice = {
  include: domainList('Parts to include, default all'),
  exclude: domainList('Parts to leave out'),
}

/** Which parts of contracts are meant, and whether custom properties of the service count. */
export interface Choice {
  mode?: 'extended' | 'odcs-pure'
  include?: string
  exclude?: string
}

export const planQuery = Joi.object<Choice>({ mode, ...choice })
export const applyQuery = Joi.object<Choice & { prune: boolean }>({
  prune: queryBoolean
    .default(false)
    .description('Accepted: checks of clauses that a contract no longer has are always removed.'),
  ...choice,
})
export const exportQuery = Joi.object<Choice>({ mode, ...choice })
export const draftQuery = Joi.object<Pick<Choice, 'mode'>>({ mode })
export const testQuery = Joi.object<ContractBinding>({ extra_columns: bindingFields.extra_columns })

const names = Joi.array().items(Joi.string().max(100)).max(20)

export const exportBody = Joi.object<ExportRequest>({
  scope: Joi.string()
    .valid('all', 'assets', 'warehouse')
    .required()
    .description('All sources, some assets, or the source of a name.'),
  mode,
  scope_name: Joi.string()
    .max(1_000)
    .allow(null)
    .empty(null)
    .description('Of scope warehouse: the name of a source.'),
  asset_public_ids: Joi.array()
    .items(Joi.string().max(1_000))
    .max(1_000)
    .allow(null)
    .empty(null)
    .description('Of scope assets: sources and tables.'),
  include: names.description('Parts to include, default all.'),
  exclude: names.description('Parts to leave out.'),
})
  .required()
  .example({ scope: 'all' })

export const exportParams = Joi.object({ id: Joi.string().max(100).required().description('The job_id.') })

const yaml = `apiVersion: v3.1.0
kind: DataContract
id: orders
version: 1.0.0
status: active
`

/** The text of a contract. */
export const documentBody = Joi.alternatives(
  Joi.string().description('A contract in YAML, at most 256 KiB').example(yaml),
  Joi.object().unknown().description('A contract in JSON, or {"contract": "<its YAML>"}'),
  Joi.any().description('Other JSON, which is an invalid contract'),
).required()

const { text, count, flag, texts } = held

const error = record({
  message: text,
  yaml_path: text.description('Such as `schema[0].name`; empty for the whole contract.'),
  code: text.description('The rule that is broken.'),
  line: count.allow(null),
  column: count.allow(null).description('Not known: null.'),
}).label('ContractError')

const verdict = { valid: flag, errors: Joi.array().items(error) }

const summary = record({
  id: text.allow(null),
  name: text.allow(null),
  version: text.allow(null),
  apiVersion: text,
}).label('ContractSummary')

const changed = record({ key: text, kind: Joi.valid(...CLAUSE_KINDS), title: text }).label('ChangedClause')
const changes = Joi.array().items(changed)
const byDomain = (each: Joi.Schema) =>
  Joi.object(Object.fromEntries(DOMAINS.map(domain => [domain, each])) as Record<string, Joi.Schema>)
const diff = byDomain(
  record({ added: changes, modified: changes, removed: changes }).label('ContractChanges'),
)

const JOB_ID = '0196f2f4-1111-7222-8333-444455556666'
const started = startedRun(
  'ContractTest',
  { id: JOB_ID, jobPath: '/api/v1/sdk/jobs' },
  { asset_id: held.id.description('The source.') },
  { asset_id: '0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d' },
)

export const replies = {
  validated: reply(
    inData(record({ ...verdict, contract_summary: summary.allow(null) }).label('ValidatedContract')),
  ),
  planned: reply(
    inData(
      record({
        ...verdict,
        diffs: diff,
        summary: byDomain(record({ added: count, modified: count, removed: count }).label('ChangeCounts')),
      }).label('PlannedContract'),
    ),
  ),
  applied: reply(
    inData(
      record({
        ...verdict,
        applied: diff,
        unsupported_domains: texts.description(
          'Parts that were asked for and that contracts do not have here.',
        ),
        pruned: flag.description('Whether clauses were removed.'),
        contract: text.allow(null).description('The name that it is stored by.'),
      }).label('AppliedContract'),
    ),
  ),
  yaml: {
    status: {
      200: Joi.string()
        .meta({ contentType: 'application/yaml' })
        .description('The contract, as YAML')
        .example(yaml),
    },
    sample: 0,
  },
  zip: {
    status: { 200: Joi.any().meta({ contentType: 'application/zip' }).description('The archive') },
    sample: 0,
  },
  submitted: reply(inData(record({ job_id: held.id.example(JOB_ID) }).label('SubmittedExport')), 202),
  status: reply(
    inData(
      record({
        job_id: held.id.example(JOB_ID),
        status: Joi.valid('pending', 'running', 'completed', 'failed', 'cancelled'),
        contracts: count.description('In the archive.'),
        error: text.allow(null),
        created_at: held.time,
        completed_at: held.time.allow(null),
      }).label('ContractExport'),
    ),
  ),
  draft: reply(inData(record({ contract: text.description('YAML.').example(yaml) }).label('ContractDraft'))),
  test: startedReplies(started),
}
