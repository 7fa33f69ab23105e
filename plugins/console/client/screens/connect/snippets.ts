/** What to paste into the tools that send lineage and runs. Each but that of Spark, which is from its documentation, was tried. */

/** What the snippets of an installation contain. */
export interface SnippetValues {
  /** The address of this installation. */
  base: string
  /** An API key, or what stands for it. */
  key: string
  /** The name of the source that a tool builds in. */
  source: string
}

export interface Step {
  title: string
  code: string
}

export const TOOLS = ['dbt', 'airflow', 'spark', 'dagster', 'openlineage', 'bi'] as const
export type Tool = (typeof TOOLS)[number]

export const TOOL_NAMES: Record<Tool, string> = {
  dbt: 'dbt',
  airflow: 'Airflow',
  spark: 'Spark',
  dagster: 'Dagster',
  openlineage: 'OpenLineage',
  bi: 'BI tools',
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

const exportsOf = ({ base, key }: SnippetValues) =>
  `export OPENLINEAGE_URL=${base}\nexport OPENLINEAGE_API_KEY=${key}`

const post = ({ base, key }: SnippetValues, path: string, body: object) =>
  `curl -s ${base}${path} \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d ${quote(JSON.stringify(body))}`

/** The same run each time, so that a second try adds nothing. */
const TEST_RUN = '7d9a3c52-6f0e-4b1d-9a57-2c8e41f0b6d3'

const steps: Record<Tool, (place: SnippetValues) => Step[]> = {
  dbt: ({ base, key, source }) => [
    {
      title: 'After each run of dbt, send its artifacts',
      code: `export TIDEMARK_URL=${base}
export TIDEMARK_API_KEY=${key}
dbt docs generate
dbt build
npx tidemark lineage dbt target --source ${quote(source)}`,
    },
    {
      title: 'Or without Node.js, with curl and jq',
      code: `jq -n --arg source ${quote(source)} \\
  --slurpfile m target/manifest.json \\
  --slurpfile r target/run_results.json \\
  '{source: $source, manifest: $m[0], run_results: $r[0]}' |
curl -s ${base}/api/v1/sdk/lineage/dbt \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' --data-binary @-`,
    },
  ],
  airflow: ({ base, key }) => [
    {
      title: 'Install the provider of OpenLineage (Airflow 2.7 or newer)',
      code: 'pip install apache-airflow-providers-openlineage',
    },
    {
      title: 'Set this for the scheduler and the workers, and start them again',
      code: `export AIRFLOW__OPENLINEAGE__NAMESPACE=airflow
export AIRFLOW__OPENLINEAGE__TRANSPORT=${quote(
        JSON.stringify({
          ...{ type: 'http', url: base, endpoint: 'api/v1/lineage' },
          auth: { type: 'api_key', apiKey: key },
        }),
      )}`,
    },
  ],
  spark: ({ base, key }) => [
    {
      title: 'Start the job with the listener (Scala 2.12; for 2.13 write _2.13)',
      code: `spark-submit \\
  --packages io.openlineage:openlineage-spark_2.12:1.54.0 \\
  --conf spark.extraListeners=io.openlineage.spark.agent.OpenLineageSparkListener \\
  --conf spark.openlineage.namespace=spark \\
  --conf spark.openlineage.transport.type=http \\
  --conf spark.openlineage.transport.url=${base} \\
  --conf spark.openlineage.transport.endpoint=/api/v1/lineage \\
  --conf spark.openlineage.transport.auth.type=api_key \\
  --conf spark.openlineage.transport.auth.apiKey=${key} \\
  job.py`,
    },
  ],
  dagster: place => [
    { title: 'Install the integration', code: 'pip install dagster-openlineage' },
    { title: 'Set this where the Dagster daemon runs', code: exportsOf(place) },
    {
      title: 'Add the sensor to your definitions, and switch it on in Dagster',
      code: `from dagster import Definitions
from dagster_openlineage import openlineage_sensor

defs = Definitions(
    assets=[...],
    sensors=[openlineage_sensor(include_asset_events=True)],
)`,
    },
  ],
  openlineage: place => [
    {
      title: 'Clients of OpenLineage in Python and Java read these, such as Flink and dbt-ol',
      code: exportsOf(place),
    },
    {
      title: 'Or send an event yourself: two datasets, one made from the other',
      code: post(place, '/api/v1/lineage', {
        ...{
          eventType: 'COMPLETE',
          eventTime: new Date().toISOString(),
          producer: 'https://example.com/test',
        },
        run: { runId: TEST_RUN },
        job: { namespace: 'test', name: 'copy_orders' },
        inputs: [{ namespace: 'test', name: 'orders' }],
        outputs: [{ namespace: 'test', name: 'orders_copy' }],
      }),
    },
  ],
  bi: place => [
    {
      title: 'With dbt: name dashboards as exposures, and send the artifacts of dbt',
      code: `exposures:
  - name: weekly_sales
    type: dashboard
    url: https://bi.example.com/dashboards/12
    depends_on:
      - ref('orders')
    owner:
      name: Sales
      email: sales@example.com`,
    },
    {
      title: 'Without dbt: name the tables that a dashboard reads, one at a time',
      code: post(place, '/api/v1/sdk/lineage/edges', {
        upstream: `${place.source}.DATABASE.SCHEMA.orders`,
        downstream_external: {
          ...{ kind: 'dashboard', namespace: 'looker', name: 'Weekly sales' },
          url: 'https://bi.example.com/dashboards/12',
        },
      }),
    },
  ],
}

/** What is to be done for a tool, in order. */
export const stepsOf = (tool: Tool, place: SnippetValues): Step[] => steps[tool](place)
