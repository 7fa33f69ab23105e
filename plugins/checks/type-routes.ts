import type { Server, ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import type { CheckType } from '../../checks/check.ts'
import { describeMissingCapability, describeUnsuitedColumn } from '../../checks/suited-columns.ts'
import { access, inCompany, routesOf, type ValidRequest } from '../../server/http/access.ts'
import { exampleRecord, held, inData, record, reply } from '../../server/http/envelopes.ts'
import { describeConfig } from '../../server/openapi/choices.ts'
import type { Asset } from '../catalog/api.ts'
import { labelOfType } from './list/check-title.ts'

const words = Joi.array().items(Joi.string())

const checkType = exampleRecord({
  type: held.text.description('`rule_type` of a rule, `metric_type` of a metric.').example('RANGE'),
  label: held.text.description('What people call it.').example('Range'),
  family: Joi.valid('rule', 'metric').example('rule'),
  description: held.text.example('The value lies between two bounds.'),
  column: Joi.valid('required', 'optional', 'ignored')
    .description('Whether it is made for a column.')
    .example('required'),
  column_kinds: words
    .allow(null)
    .description('The kinds of column that it takes; null for all.')
    .example(['integer', 'decimal', 'float']),
  needs: words.description('The capabilities that the engine must have.').example([]),
  columns: words
    .allow(null)
    .description('The columns of the table that it takes; null without `asset_id`, and of a source.')
    .example(['total']),
  ignores_null_policy: held.flag
    .description('It counts NULL in its own way: `treat_null_as_valid` changes nothing.')
    .example(false),
  settings: Joi.object()
    .unknown()
    .description('The JSON Schema of `rule_config` of a rule, of the further fields of a metric.')
    .example({ type: 'object', properties: { min: { type: 'number' } } }),
}).label('CheckType')

/** The types of rules and metrics, for forms that add one. */
export const typeRoute: ServerRoute = routesOf('checks')('GET', '/api/v1/sdk/check-types', access.read, {
  id: 'listCheckTypes',
  description: 'List the types of rules and metrics with their settings',
  notes:
    'Also those of extensions. For a form that adds a rule or a metric; with `asset_id` only those that the engine of the asset can measure, with the columns of the table that each takes.',
  validate: {
    query: Joi.object<{ asset_id?: string }>({
      asset_id: Joi.string().max(1_000).description('The id or qualified name of a source or a table.'),
    }),
  },
  response: reply(
    inData(record({ items: Joi.array().items(checkType) })).description('The types, each with its settings'),
  ),
  handler: listCheckTypes,
})

async function listCheckTypes(request: ValidRequest<unknown, { asset_id?: string }>) {
  const { server } = request
  const { asset_id: assetId } = request.query
  const asset =
    assetId === undefined
      ? undefined
      : await inCompany(request, trx => server.plugins.catalog.findAsset(trx, assetId))
  // An engine that no extension provides any more can measure nothing.
  if (asset && !server.connectors.has(asset.source.sourceType)) return { data: { items: [] } }
  const connector = asset && server.plugins.catalog.connectorOf(asset.source)
  const types = server.checks.all().filter(type => !connector || !describeMissingCapability(type, connector))
  const items = types.map(type => ({
    type: type.name,
    label: labelOfType(type),
    family: type.family,
    description: type.description,
    column: type.column,
    column_kinds: type.kinds ?? null,
    needs: type.needs ?? [],
    columns: asset ? columnsFor(server, type, asset) : null,
    ignores_null_policy: type.ignoresNullPolicy ?? false,
    settings: describeConfig(type.config),
  }))
  return { data: { items } }
}

/** The columns of a table that a type takes: those that suit it, and none whose values it would reveal. */
function columnsFor(server: Server, type: CheckType, { source, table }: Asset): string[] | null {
  if (!table) return null
  const { catalog } = server.plugins
  const { dialect } = catalog.connectorOf(source)
  const personal = type.revealsValue === 'always' ? catalog.personalColumns({ source, table }) : new Set()
  return catalog
    .tableInfo(table)
    .columns.filter(
      column => !personal.has(column.name) && describeUnsuitedColumn(type, column, dialect) === null,
    )
    .map(({ name }) => name)
}
