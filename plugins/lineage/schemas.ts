import Joi from 'joi'
import { idParam } from '../../server/http/input.ts'
import {
  exampleIn,
  exampleRecord,
  held,
  inData,
  inNestedPage,
  record,
  removal,
  reply,
  withoutExamples,
} from '../../server/http/envelopes.ts'
import { pageQuery, type Page, queryBoolean, queryInteger } from '../../server/http/page.ts'
import { ALL_COLUMNS, LINEAGE_ORIGINS, OUTSIDE_KINDS } from './api.ts'
import { DIRECTIONS, type GraphQuery } from './graph/read.ts'
import type { ManualEdgeInput } from './manual.ts'

export const assetParams = Joi.object({
  asset_id: Joi.string()
    .required()
    .description('The id or qualified name of a source, a table, or a thing outside the catalog.'),
})

export const walkQuery = Joi.object<GraphQuery>({
  depth: queryInteger(1, 10).default(3).description('Steps away from the table.'),
  direction: Joi.string()
    .valid('both', ...DIRECTIONS)
    .default('both')
    .description('What the table is made from, what is made from it, or both.'),
  columns: queryBoolean.default(false).description('Whether edges show the columns that are known.'),
  details: queryBoolean
    .default(false)
    .description('Whether nodes show the health of tables, and how many neighbours they have.'),
  include: Joi.valid('foreign_keys').description('Also follows foreign keys, which move no data.'),
})

const orders = '0197f3a2-5b1c-7e7f-9d3e-2f6a1c4b8d90'
const sales = '0197f3a2-5b1c-7e7f-9d3e-2f6a1c4b8d91'

export const nodeList = Joi.object<Page>(pageQuery())

const placeFields = {
  id: held.id.example(orders),
  qualified_name: Joi.string().example('demo_shop.main.main.orders'),
  name: Joi.string().example('orders'),
  asset_type: Joi.string()
    .description(`table, view, …; of the root also source; outside the catalog ${OUTSIDE_KINDS.join(', ')}.`)
    .example('table'),
  source_type: Joi.string().allow(null).description('The engine of its source.').example('sqlite'),
}

const place = exampleRecord(placeFields).label('LineageNode')

const away = held.count.allow(null)

const node = record({
  ...withoutExamples(placeFields),
  is_active: held.flag.description('False of a table that is not there any more.'),
  is_external: held.flag.description(
    'Whether it is outside the catalog: a dashboard, a dataset of a pipeline.',
  ),
  namespace: held.text.allow(null).description('Where it is, if it is outside the catalog.'),
  url: held.text.allow(null),
  description: held.text.allow(null),
  owners: Joi.array().items(record({ name: held.text.allow(null), email: held.text.allow(null) })),
  upstream_distance: away.description('Steps against the flow of data; null where it does not lie there.'),
  downstream_distance: away.description('Steps along the flow of data; null where it does not lie there.'),
  health: record({
    quality_status: Joi.valid('passing', 'failing', 'error', 'none'),
    freshness_status: Joi.valid('fresh', 'stale', 'error', 'unknown'),
    schema_change_status: Joi.valid('none', 'low', 'medium', 'high'),
    open_alerts: held.count,
  })
    .allow(null)
    .optional()
    .label('LineageNodeHealth')
    .description('Null outside the catalog; there on request.'),
  upstream_count: held.count
    .optional()
    .description('What it is made from, in the graph or not; there on request.'),
  downstream_count: held.count.optional().description('What is made from it, in the graph or not.'),
}).label('LineageGraphNode')

const origin = Joi.valid(...LINEAGE_ORIGINS)

const columnPair = {
  upstream_column: Joi.string().max(500).required(),
  downstream_column: Joi.string()
    .max(500)
    .required()
    .description(`\`${ALL_COLUMNS}\` where the upstream column decides which rows there are.`),
}
const columnKind = Joi.valid('direct', 'indirect').description(
  'indirect: the column filters, joins, groups or sorts, and gives no values.',
)

const edgeFields = {
  upstream_id: held.id.description('The table that is read.'),
  downstream_id: held.id.description('The table that is made from it.'),
  source: Joi.string().description('The qualified name of the table that is read.'),
  target: Joi.string().description('The qualified name of the table that is made from it.'),
  edge_type: origin.description('The strongest of its origins.'),
  confidence: Joi.number().min(0).max(1).description('Below 1 where names in a definition were guessed.'),
  origins: Joi.array()
    .items(
      record({
        origin,
        detail: held.text.description('The view, the constraint, the dbt model, the job.'),
        confidence: Joi.number().min(0).max(1),
        last_seen_at: held.time,
      }).label('LineageOrigin'),
    )
    .description('All that report it, the strongest first.'),
  last_seen_at: held.time.description('When one of them last reported it, to the hour.'),
  is_stale: held.flag.description(
    'Whether no run of a pipeline has reported it for 30 days; it goes after 90.',
  ),
}
const columns = Joi.array()
  .items(record({ ...columnPair, kind: columnKind }).label('LineageColumns'))
  .allow(null)

const edge = record({
  ...edgeFields,
  columns: columns.optional().description('Null where they are not known; there on request.'),
}).label('LineageEdge')

const manualEdge = record({ ...edgeFields, columns }).label('ManualLineageEdge')

const ORDERS = exampleIn(place) as object
const SALES = {
  ...ORDERS,
  id: sales,
  qualified_name: 'demo_shop.main.main.daily_sales',
  name: 'daily_sales',
  asset_type: 'view',
}

const INSIDE = {
  is_active: true,
  is_external: false,
  namespace: null,
  url: null,
  description: null,
  owners: [],
}
const SEEN_AT = '2026-03-01T04:00:00.000Z'
const EDGE = {
  upstream_id: orders,
  downstream_id: sales,
  source: 'demo_shop.main.main.orders',
  target: 'demo_shop.main.main.daily_sales',
  edge_type: 'view',
  confidence: 1,
  origins: [{ origin: 'view', detail: 'main.daily_sales', confidence: 1, last_seen_at: SEEN_AT }],
  last_seen_at: SEEN_AT,
  is_stale: false,
}

export const graph = reply(
  inData(
    record(
      {
        asset_id: held.id,
        root: record(withoutExamples(placeFields)).description('The table or source that was asked for.'),
        upstream: Joi.array()
          .items(place)
          .description('What the table is made from; empty of a source, which knows no direction.'),
        downstream: Joi.array().items(place).description('What is made from it.'),
        nodes: Joi.array().items(node),
        edges: Joi.array().items(edge),
        is_complete: held.flag.description('False where there are more edges than are shown, 2,000.'),
      },
      {
        asset_id: orders,
        root: ORDERS,
        upstream: [],
        downstream: [SALES],
        nodes: [
          { ...SALES, ...INSIDE, upstream_distance: null, downstream_distance: 1 },
          { ...ORDERS, ...INSIDE, upstream_distance: 0, downstream_distance: 0 },
        ],
        edges: [EDGE],
        is_complete: true,
      },
    ).label('LineageGraph'),
  ),
)

export const nodes = reply(inNestedPage(place))

const external = Joi.object({
  kind: Joi.valid(...OUTSIDE_KINDS).required(),
  namespace: Joi.string().max(500).required().description('Where it is: `looker`, `s3://bucket`.'),
  name: Joi.string().max(500).required(),
  url: Joi.string()
    .uri({ scheme: ['http', 'https'] })
    .max(2_000),
  description: Joi.string().max(5_000),
}).description('A thing outside the catalog, which is created when its namespace and name are new.')

const end = Joi.string()
  .max(2_000)
  .description('The id or qualified name of a table, or of a thing outside the catalog.')

export const newEdge = Joi.object<ManualEdgeInput>({
  upstream: end,
  upstream_external: external,
  downstream: end,
  downstream_external: external,
  columns: Joi.array()
    .items(Joi.object({ ...columnPair, kind: columnKind.default('direct') }))
    .max(5_000)
    .description('All columns of the edge; without them, it is known by table only.'),
})
  .xor('upstream', 'upstream_external')
  .xor('downstream', 'downstream_external')
  .example({
    upstream: 'shop.shop.public.orders',
    downstream_external: { kind: 'dashboard', namespace: 'looker', name: 'Weekly sales' },
    columns: [{ upstream_column: 'total', downstream_column: ALL_COLUMNS }],
  })

export const edgeParams = Joi.object({
  upstream_id: idParam.description('The table or outside thing that is read.'),
  downstream_id: idParam.description('What is made from it.'),
})

export const replies = {
  edge: inData(manualEdge.example({ ...EDGE, edge_type: 'manual', columns: null })),
  edges: inNestedPage(manualEdge),
  removed: removal('The edge was removed'),
}
