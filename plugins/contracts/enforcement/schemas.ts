import Joi from 'joi'
import {
  exampleIn,
  exampleRecord,
  held,
  inData,
  inNestedPage,
  inPage,
  record,
  removal,
  reply,
} from '../../../server/http/envelopes.ts'
import { pageQuery, type Page } from '../../../server/http/page.ts'
import { CHECK_KINDS } from '../check-kinds.ts'
import { finding } from '../schemas.ts'
import { CLAUSE_KINDS, CLAUSE_STATUSES } from './clause.ts'
import { CONTRACT_STATUSES, type ContractListQuery } from './contracts.ts'
import { bindingFields, wrappedContract, type ContractBinding } from './upload.ts'

const yaml = `apiVersion: v3.1.0
kind: DataContract
id: orders
version: 1.0.0
status: active
team:
  name: sales
schema:
  - name: orders
    physicalName: public.orders
    properties:
      - name: id
        logicalType: integer
        primaryKey: true
`

export const contractParams = Joi.object({
  name: Joi.string()
    .pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/)
    .required()
    .messages({
      'string.pattern.base':
        '{{#label}} must be up to 100 letters, digits, dots, hyphens and underscores, with a letter or digit first',
    })
    .description('The name of the contract.'),
})

export const contractList = Joi.object<ContractListQuery>({
  ...pageQuery(),
  asset_id: Joi.string()
    .max(1_000)
    .description('Only contracts of this source, or that name this table; an id or a qualified name.'),
})

export const pictureParams = Joi.object({
  public_id: Joi.string().guid().required().description('The public id of the contract.'),
})

export const bindingQuery = Joi.object<ContractBinding>(bindingFields)

export const historyQuery = Joi.object<Page>(pageQuery({ max: 200, fallback: 50 }))

/** Any value: what is no contract is refused with the line of each error. */
export const contractBody = Joi.alternatives(
  wrappedContract
    .unknown()
    .description('A contract, or {"contract": "<its YAML>", "source": …}')
    .example({ contract: yaml, source: 'shop' }),
  Joi.string().description('A contract in YAML, at most 256 KiB').example(yaml),
  Joi.any().description('Other JSON, which is an invalid contract'),
).required()

/** The same, without saying again what the fields are. */
export const plannedContract = Joi.alternatives(
  Joi.object().unknown().description('As the PUT takes it.').example({ contract: 'id: orders' }),
  Joi.string().example('id: orders'),
  Joi.any(),
).required()

const { id, text, time, count, flag } = held

const counts = record({ passing: count, failing: count, pending: count, not_enforced: count })
  .description('Clauses by status.')
  .example({ passing: 4, failing: 0, pending: 0, not_enforced: 1 })
  .label('ClauseCounts')

const fields = {
  name: text.example('orders'),
  source_id: id.example('0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d'),
  source_name: text.example('shop'),
  status: Joi.valid(...CONTRACT_STATUSES)
    .description('Failing if a clause fails; passing if all that are enforced pass.')
    .example('passing'),
  counts,
  title: text.allow(null).description('The name in the document.').example(null),
  version: text.allow(null).example('1.0.0'),
  owner: text.allow(null).description('The team of the contract, or its owner.').example('sales'),
  api_version: text.example('v3.1.0'),
  document_id: text.allow(null).description('The id in the document.').example('orders'),
  extra_columns: Joi.valid('allow', 'fail').example('allow'),
  badge_url: Joi.string()
    .description('The public URL of a picture of the status.')
    .example('http://127.0.0.1:8000/badges/contracts/4f0c2d1e-8b7a-4c3d-9e5f-6a1b2c3d4e5f.svg'),
  markdown: Joi.string()
    .description('Markdown that shows the picture.')
    .example('![contract](http://127.0.0.1:8000/badges/contracts/4f0c2d1e-8b7a-4c3d-9e5f-6a1b2c3d4e5f.svg)'),
  created_at: time.example('2030-01-15T09:30:00.000Z'),
  updated_at: time.example('2030-01-15T09:30:00.000Z'),
  judged_at: time
    .description('When it was last compared with the catalog.')
    .example('2030-01-15T09:30:00.000Z'),
}

/** What of a clause every reply shows. */
export const clauseFields = {
  key: text.description('Stays the same while names do.').example('public.orders/id/type'),
  kind: Joi.valid(...CLAUSE_KINDS).example('type'),
  path: text.description('A JSON Pointer into the contract.').example('/schema/0/properties/0'),
  title: text.description('What is promised.').example('public.orders.id is of type integer'),
  severity: Joi.valid('info', 'warning', 'critical').example('critical'),
  status: Joi.valid(...CLAUSE_STATUSES).example('passing'),
  reason: text.allow(null).description('Why it does not pass; null if it does.').example(null),
}

const clause = exampleRecord({
  ...clauseFields,
  since: time.description('When the status changed last.').example('2030-01-15T09:30:00.000Z'),
  table_name: text.allow(null).description('As the contract names it.').example('public.orders'),
  column_name: text.allow(null).example('id'),
  asset_id: id
    .allow(null)
    .description('The table in the catalog.')
    .example('6f1c2b4a-5d6e-4c7e-9d0b-3f1c2b4a5d6e'),
  check_kind: Joi.valid(...CHECK_KINDS)
    .allow(null)
    .description('The kind of the check that tells; null if the catalog does.')
    .example(null),
  check_id: text.allow(null).description('As the endpoints of its kind take it.').example(null),
  is_adopted: flag
    .description('Whether the check was there before: it stays when the contract is removed.')
    .example(false),
}).label('ContractClause')

const PLANNED_ACTIONS = ['keep', 'adopt', 'create', 'change', 'replace'] as const

const plannedClause = exampleRecord({
  ...clauseFields,
  table_name: text.allow(null).description('As the contract names it.').example('public.orders'),
  column_name: text.allow(null).example('status'),
  action: Joi.valid(...PLANNED_ACTIONS)
    .allow(null)
    .description('What becomes of the check that judges it; null where none does.')
    .example('adopt'),
  check_kind: Joi.valid(...CHECK_KINDS)
    .allow(null)
    .example('validity'),
  check_id: text
    .allow(null)
    .description('Null of a check that is to be created.')
    .example('v_6f1c2b4a-5d6e-4c7e-9d0b-3f1c2b4a5d6e'),
}).label('PlannedContractClause')

const preview = exampleRecord({
  name: fields.name,
  source_id: fields.source_id,
  source_name: fields.source_name,
  is_new: flag.description('Whether there is no contract of this name yet.').example(true),
  message: text.description('In a sentence.').example('adopts 6 checks, creates 1'),
  checks: record({
    adopted: count.description('Checks that are there, by hand or of another owner, and are not made twice.'),
    created: count,
    changed: count,
    replaced: count,
    kept: count,
    removed: count,
    released: count.description('Adopted before, and no longer needed: they stay.'),
  })
    .example({ adopted: 6, created: 1, changed: 0, replaced: 0, kept: 0, removed: 0, released: 0 })
    .label('PlannedContractChecks'),
  clauses: Joi.array()
    .items(plannedClause)
    .description('In the order of the contract; what a check judges is pending.')
    .example([exampleIn(plannedClause)]),
  warnings: Joi.array().items(finding).example([]),
}).label('ContractPreview')

const contract = exampleRecord(fields).label('Contract')

const detailed = exampleRecord({
  ...fields,
  contract: text.description('The document as it was sent.').example(yaml),
  clauses: Joi.array()
    .items(clause)
    .description('In the order of the contract.')
    .example([exampleIn(clause)]),
  warnings: Joi.array()
    .items(finding)
    .optional()
    .description('Of a PUT: what the standard allows, but is worth a look.'),
}).label('EnforcedContract')

const event = exampleRecord({
  id: id.example('019a2f3e-6a51-7c7e-9d0b-3f1c2b4a5d6e'),
  event: Joi.valid('created', 'replaced', 'status').example('status'),
  version: text.allow(null).description('Of a contract that was created or replaced.').example(null),
  clause_key: text.allow(null).description('Of a changed status.').example('public.orders/id/type'),
  clause_title: text.allow(null).example('public.orders.id is of type integer'),
  from_status: Joi.valid(...CLAUSE_STATUSES)
    .allow(null)
    .example('passing'),
  to_status: Joi.valid(...CLAUSE_STATUSES)
    .allow(null)
    .example('failing'),
  reason: text.allow(null).example('it is text, not a type of integer'),
  actor: text
    .description('`user:<id>`, `key:<id>`, `cli`, or `system` for discoveries and checks.')
    .example('system'),
  at: time.example('2030-01-15T09:30:00.000Z'),
}).label('ContractEvent')

const summary = record({
  passing: count.description('Contracts.').example(3),
  failing: count.description('Contracts.').example(1),
  pending: count.description('Contracts.').example(0),
  failing_clauses: count.description('Clauses that fail, of all contracts.').example(2),
})
  .description('Contracts by status, on all pages.')
  .label('ContractTotals')

export const replies = {
  contracts: reply(inData(inPage(contract, 'contracts', { summary }))),
  contract: reply(inData(detailed)),
  stored: { status: { 200: inData(detailed), 201: inData(detailed) }, sample: 0 },
  preview: reply(inData(preview)),
  removed: reply(removal('The contract orders was removed')),
  history: reply(inNestedPage(event, 'events')),
  picture: Joi.string().meta({ contentType: 'image/svg+xml' }),
}
