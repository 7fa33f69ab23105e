import Joi from 'joi'
import { exampleRecord, held, inData, record, reply } from '../../server/http/envelopes.ts'
import type { GivenFile } from './file/read-files.ts'

const { count, integer, text } = held

export const monitorsParams = Joi.object({
  asset_id: Joi.string().max(1_000).required().description('The id or name of a source.'),
})

export const exportQuery = Joi.object<{ check_id?: string }>({
  check_id: Joi.string().max(100).description('Only this check, as the endpoints of its kind take its id.'),
})

const MAX_FILES = 1_000
/** The largest text of a file: 3,000 checks have 900 kB. */
export const MAX_FILE_BYTES = 1_048_576
/** The largest body of a request: parsing JSON of many fields takes 50 ms for each MiB. */
export const MAX_BYTES = 2_097_152

const DOCUMENT = {
  version: 1,
  source: 'shop',
  tables: {
    'public.orders': {
      checks: {
        validity: [
          {
            key: 'orders.status.enum',
            rule_type: 'ENUM',
            column_name: 'status',
            rule_config: { allowed_values: ['new', 'paid', 'shipped'] },
          },
        ],
      },
    },
  },
}

/** An empty file is refused with its name, as any other that holds no checks. */
const fileText = Joi.string()
  .allow('')
  .meta({ openapi: { minLength: 1, pattern: '\\S' } })

const file = Joi.object({
  name: Joi.string().trim().min(1).max(500).required().description('Its path, for messages and records.'),
  content: Joi.alternatives(fileText, Joi.object().unknown())
    .required()
    .description('The text of the file, YAML or JSON of at most 1 MiB; or the document itself.'),
})

export interface MonitorsBody {
  files: GivenFile[]
  prune: boolean
}

export const monitorsBody = Joi.object<MonitorsBody>({
  files: Joi.array()
    .items(file)
    .min(1)
    .max(MAX_FILES)
    .unique('name')
    .required()
    .description('All monitors files of the source.'),
  prune: Joi.boolean()
    .strict()
    .default(false)
    .description('Removes checks that a file managed and no file has any more. Others are never removed.'),
})
  .required()
  .example({ files: [{ name: 'monitors/shop.yaml', content: DOCUMENT }] })

const kind = Joi.string()
  .meta({ openapi: { 'x-words': 'declared_kind' } })
  .description('The kind of check.')
const key = Joi.string().description('Its key in the file.')
const fileName = Joi.string()
const checkId = Joi.string().description('As the endpoints of its kind take it.')

const fields = Joi.array().items(
  record({ field: Joi.string(), old: Joi.any(), new: Joi.any() }).label('FieldChange'),
)

const change = record({
  action: Joi.valid('create', 'change', 'replace', 'adopt', 'delete').description(
    'replace removes the check with its history and creates another, where something else is measured; adopt records the key of an equal check that no file managed.',
  ),
  kind,
  key,
  table_path: Joi.string(),
  check_id: checkId.allow(null),
  file: fileName,
  line: integer.min(1).allow(null).description('Of the check in its file; null of a document.'),
  fields: fields.description('What differs; of a new check, what the file gives.'),
}).label('MonitorChange')

const drift = record({
  kind,
  key,
  file: fileName,
  check_id: checkId,
  is_removed: held.flag.description('The check was removed by hand.'),
  fields: fields.description('As the file was applied (old), and as they are now (new).'),
}).label('MonitorDrift')

const left = record({ kind, key, file: fileName, table_path: Joi.string(), check_id: checkId }).label(
  'LeftMonitor',
)

const plan = exampleRecord({
  asset_id: held.id.example('0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d'),
  source: text.example('shop'),
  create: count.example(1),
  change: count.example(0),
  replace: count.example(0),
  delete: count.description('Only with prune.').example(0),
  adopt: count.example(0),
  unchanged: count.example(24),
  changes: Joi.array()
    .items(change)
    .example([
      {
        action: 'create',
        kind: 'validity',
        key: 'orders.status.enum',
        table_path: 'public.orders',
        check_id: null,
        file: 'monitors/shop.yaml',
        line: 7,
        fields: [{ field: 'rule_type', old: null, new: 'ENUM' }],
      },
    ]),
  drift: Joi.array()
    .items(drift)
    .description('What was changed on the server since the files were applied last.')
    .example([]),
  left: Joi.array()
    .items(left)
    .description('Managed checks that no file has; prune removes them.')
    .example([]),
  default_windows: Joi.array()
    .items(
      record({
        table_path: Joi.string(),
        file: fileName,
        old: Joi.object().unknown().allow(null),
        new: Joi.object().unknown().allow(null),
      }).label('MonitorDefaultWindow'),
    )
    .example([]),
}).label('MonitorsPlan')

const exported = Joi.object({
  version: Joi.valid(1).required(),
  source: Joi.string().required(),
  tables: Joi.object().unknown().required(),
})
  .label('MonitorsDocument')
  .description('The checks of the source, by the paths of their tables.')
  .example(DOCUMENT)

export const replies = {
  exported: reply(
    Joi.alternatives(
      inData(exported),
      Joi.string().meta({ contentType: 'application/yaml' }).description('The file, as YAML'),
    ).description('The checks of the source, as a monitors file'),
  ),
  planned: reply(inData(plan).description('What an apply would do')),
  applied: reply(inData(plan).description('What was done')),
  schema: reply(Joi.object().unknown().description('A JSON Schema (draft 7)')),
}
