/** The artifacts of a small dbt project, as dbt 1.8 writes them, without the parts that are not read. */

const PROJECT = 'jaffle_shop'

interface NodeOptions {
  dependsOn?: string[]
  [field: string]: unknown
}

/** @returns an entry of `nodes` */
export function node(type: string, name: string, { dependsOn = [], ...fields }: NodeOptions = {}) {
  return [
    `${type}.${PROJECT}.${name}`,
    {
      ...{
        resource_type: type,
        name,
        alias: name,
        package_name: PROJECT,
        database: 'shop',
        schema: 'public',
      },
      ...{ config: { enabled: true, materialized: 'table' }, depends_on: { macros: [], nodes: dependsOn } },
      ...{ raw_code: 'select 1', compiled_code: 'select 1', description: '' },
      ...fields,
    },
  ] as const
}

export const model = (name: string) => `model.${PROJECT}.${name}`

/** @returns an entry of `nodes` for a generic test on a column of a model */
export function notNull(table: string, column: string, fields: object = {}) {
  return node('test', `not_null_${table}_${column}`, {
    dependsOn: [model(table)],
    column_name: column,
    attached_node: model(table),
    test_metadata: { name: 'not_null', kwargs: { column_name: column, model: `{{ ref('${table}') }}` } },
    config: { enabled: true, severity: 'ERROR' },
    ...fields,
  })
}

export function manifest(nodes: readonly (readonly [string, object])[], parts: object = {}, version = 12) {
  return {
    metadata: {
      dbt_schema_version: `https://schemas.getdbt.com/dbt/manifest/v${version}.json`,
      ...{ dbt_version: '1.8.0', project_name: PROJECT, adapter_type: 'postgres' },
    },
    nodes: Object.fromEntries(nodes),
    macros: { 'macro.dbt.x': { macro_sql: '{% macro x() %}{% endmacro %}' } },
    ...parts,
  }
}

/** @param statuses by unique id */
export function runResults(at: string, statuses: Record<string, string | object>, invocationId = '') {
  return {
    metadata: { generated_at: at, invocation_id: invocationId },
    results: Object.entries(statuses).map(([id, status]) => ({
      unique_id: id,
      timing: [{ name: 'execute', started_at: at, completed_at: at }],
      ...(typeof status === 'string'
        ? { status, failures: status === 'pass' ? 0 : 3, message: null }
        : status),
    })),
  }
}
