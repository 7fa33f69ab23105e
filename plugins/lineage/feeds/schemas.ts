import Joi from 'joi'
import {
  exampleRecord,
  held,
  inData,
  inNestedPage,
  nullable,
  record,
  removal,
  reply,
} from '../../../server/http/envelopes.ts'
import { pageQuery, type Page, queryInteger } from '../../../server/http/page.ts'
import { TEST_STATUSES } from '../dbt/test-results.ts'
import { FEED_TOOLS } from './list-feeds.ts'
import { dbtArtifacts } from './dbt-artifacts-schema.ts'
import { describeObject, rawBody } from './raw-body.ts'

const SOURCE_ID = '0197f3a2-5b1c-7e7f-9d3e-2f6a1c4b8d92'
const TABLE_ID = '0197f3a2-5b1c-7e7f-9d3e-2f6a1c4b8d90'

export const dbtBody = rawBody(
  {
    ...describeObject(
      'The artifacts of one dbt project. Other fields of the artifacts are read over.',
      {
        source: {
          type: 'string',
          minLength: 1,
          description: 'The source that dbt builds in, by id or name.',
        },
        ...dbtArtifacts,
      },
      ['source', 'manifest'],
    ),
    additionalProperties: false,
  },
  {
    source: 'shop',
    manifest: {
      metadata: {
        dbt_schema_version: 'https://schemas.getdbt.com/dbt/manifest/v12.json',
        project_name: 'jaffle_shop',
      },
      nodes: {
        'model.jaffle_shop.orders': {
          resource_type: 'model',
          name: 'orders',
          alias: 'orders',
          database: 'shop',
          schema: 'public',
          depends_on: { nodes: ['source.jaffle_shop.raw.payments'] },
        },
      },
      sources: {
        'source.jaffle_shop.raw.payments': {
          resource_type: 'source',
          name: 'payments',
          identifier: 'payments',
          database: 'shop',
          schema: 'raw',
        },
      },
    },
  },
)

export const dbtReply = reply(
  inData(
    exampleRecord({
      source_id: held.id.example(SOURCE_ID),
      project: Joi.string().example('jaffle_shop'),
      tables: held.count
        .description('Models, seeds, snapshots and sources that are tables of the catalog.')
        .example(7),
      unmatched_count: held.count
        .description('Those that are not: they are shown as datasets outside the catalog.')
        .example(1),
      unmatched: held.texts.description('The first 50 of them.').example(['model.jaffle_shop.tmp']),
      exposures: held.count.example(1),
      edges: held.count.example(9),
      columns: held.count
        .description(
          'Pairs of columns that the edges have: from the compiled SQL of PostgreSQL and Redshift, with catalog.json.',
        )
        .example(40),
      kept_columns: held.count
        .description(
          'Those of them that earlier imports found: of models that have no compiled SQL in the manifest, or of all without catalog.json.',
        )
        .example(0),
      removed_edges: held.count
        .description('Edges that the project reported before and does not any more.')
        .example(0),
      tests: held.count.example(20),
      test_results: held.count.description('Results that are newer than those that were known.').example(20),
      failing_tests: held.count.description('How many of these fail or warn.').example(1),
      test_errors: held.count.description('How many of these could not run.').example(0),
      model_runs: held.count.example(5),
    }).label('DbtImport'),
  ),
)

const assetQuery = Joi.string().max(1_000).description('A source or a table, by its id or qualified name.')

export const testList = Joi.object<Page & { asset_id?: string; status?: string }>({
  ...pageQuery(),
  asset_id: assetQuery,
  status: Joi.string()
    .valid(...TEST_STATUSES)
    .description('Only tests whose last result is this.'),
})

export const testReply = reply(
  inNestedPage(
    exampleRecord({
      id: held.id.description('The `rule_id` of its alerts.').example('0197f3a2-5b1c-7e7f-9d3e-2f6a1c4b8d93'),
      source_id: held.id.example(SOURCE_ID),
      asset_id: held.id
        .allow(null)
        .description('The table; null where the catalog does not have it.')
        .example(TABLE_ID),
      table_path: Joi.string()
        .allow(null)
        .description('The table as dbt names it; null for a test that reads none.')
        .example('shop.public.orders'),
      column_name: Joi.string().allow(null).example('order_id'),
      project: Joi.string().example('jaffle_shop'),
      unique_id: Joi.string().example('test.jaffle_shop.not_null_orders_order_id.cf6c17daed'),
      name: Joi.string().example('not_null_orders_order_id'),
      test_type: Joi.string()
        .allow(null)
        .description('What it is made from; null for a query of its own.')
        .example('not_null'),
      severity: Joi.valid('error', 'warn').example('error'),
      status: Joi.valid(...TEST_STATUSES, null)
        .description('`error` means that it could not run; null before the first result.')
        .example('pass'),
      failures: held.count.allow(null).example(0),
      message: held.text.allow(null).example(null),
      run_at: held.time.allow(null).example('2026-05-04T10:00:00.000Z'),
      since: held.time
        .allow(null)
        .description('Since when it has this status.')
        .example('2026-05-01T10:00:00.000Z'),
    }).label('ExternalCheck'),
  ),
)

export const runQuery = Joi.object<{ asset_id: string; days: number }>({
  asset_id: assetQuery.required(),
  days: queryInteger(1, 90).default(7).description('How far back.'),
})

export const runReply = reply(
  inData(
    record({
      runs: Joi.array().items(
        exampleRecord({
          id: held.id.example('0197f3a2-5b1c-7e7f-9d3e-2f6a1c4b8d94'),
          asset_id: held.id.description('The table that it writes.').example(TABLE_ID),
          job_namespace: Joi.string().example('airflow'),
          job_name: Joi.string().example('shop.daily_sales'),
          run_id: held.id.example('0197f3a2-5b1c-7e7f-9d3e-2f6a1c4b8d99'),
          state: Joi.valid('running', 'completed', 'failed', 'aborted').example('failed'),
          started_at: held.time.allow(null).example('2026-05-04T09:58:00.000Z'),
          ended_at: held.time.allow(null).example('2026-05-04T10:00:00.000Z'),
          nominal_start_at: held.time.allow(null).description('For when it was scheduled.').example(null),
          error_message: held.text.allow(null).example('relation "payments" does not exist'),
          last_event_at: held.time.example('2026-05-04T10:00:00.000Z'),
        }).label('LineageRun'),
      ),
    }).label('LineageRuns'),
  ),
)

export const feedReply = reply(
  inData(
    record({
      feeds: Joi.array().items(
        exampleRecord({
          producer: held.text
            .description('As its events name it; `dbt` for imports, `manual` for edges by hand.')
            .example('https://github.com/apache/airflow/tree/providers-openlineage/2.7.3'),
          tool: Joi.valid(...FEED_TOOLS).example('airflow'),
          jobs: held.count.example(3),
          runs: held.count.example(120),
          failed_runs: held.count.example(1),
          edges: held.count.description('Pairs of tables that it reports.').example(14),
          last_event_at: held.time.example('2026-05-04T10:00:00.000Z'),
          last_failure: nullable(
            record({ job: Joi.string(), message: held.text.allow(null), at: held.time }).label('FeedFailure'),
          ).example({
            job: 'shop.daily_sales',
            message: 'relation "payments" does not exist',
            at: '2026-05-03T10:00:00.000Z',
          }),
        }).label('LineageFeed'),
      ),
    }).label('LineageFeeds'),
  ),
)

const namespace = Joi.string()
  .max(2_000)
  .description('A namespace of datasets, in which `*` stands for any text.')
const prefix = Joi.string()
  .max(500)
  .description(
    'Written in front of the names of datasets: with `shop.public`, `orders` is `shop.public.orders`.',
  )

export const newRule = Joi.object<{ namespace: string; source_id: string; name_prefix: string | null }>({
  namespace: namespace.required(),
  source_id: Joi.string().max(500).required().description('The source, by id or name.'),
  name_prefix: prefix.allow(null).default(null),
})
  .required()
  .example({ namespace: 'postgres://replica-*:5432', source_id: 'shop' })
  .label('CreateNamespaceRuleRequest')

export const ruleParams = Joi.object({ id: Joi.string().required().description('The id of a rule.') })

const ruleFields = {
  id: held.id.example('0197f3a2-5b1c-7e7f-9d3e-2f6a1c4b8d95'),
  namespace: Joi.string().example('postgres://replica-*:5432'),
  source_id: held.id.example(SOURCE_ID),
  name_prefix: Joi.string().allow(null).example(null),
  created_at: held.time.example('2026-05-04T10:00:00.000Z'),
}

const rule = exampleRecord(ruleFields).label('NamespaceRule')

export const ruleReply = reply(
  inData(
    exampleRecord({
      ...ruleFields,
      moved_datasets: held.count
        .description('Datasets outside the catalog that became tables of the source.')
        .example(3),
    }).label('CreatedNamespaceRule'),
  ),
  201,
)

export const ruleList = reply(
  inData(
    record({
      rules: Joi.array().items(rule),
      reported: Joi.array()
        .items(
          exampleRecord({
            namespace: Joi.string().example('s3://lake'),
            datasets: held.count.description('Datasets that no source has.').example(12),
            mapping: Joi.valid('rule', 'automatic', 'none')
              .description('`automatic`: the naming convention of OpenLineage fits a source.')
              .example('none'),
            source_ids: Joi.array().items(held.id).example([]),
          }).label('ReportedNamespace'),
        )
        .description('Namespaces with datasets that no source has, at most 500.'),
    }).label('LineageNamespaces'),
  ),
)

export const ruleRemoval = reply(removal('The rule was deleted'))
