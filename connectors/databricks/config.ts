import Joi from 'joi'

/** A `connection_config` as validated. */
export interface DatabricksConfig {
  host: string
  http_path: string
  default_catalog?: string
  access_token: string
}

const WAREHOUSE_PATH = /^\/?sql\/1\.0\/(?:warehouses|endpoints)\/([A-Za-z0-9]+)$/
const CLUSTER_PATH = /^\/?sql\/protocolv1\/o\//
const WHERE_TO_FIND =
  'use that of a SQL warehouse, as in /sql/1.0/warehouses/1a2b3c4d5e6f7a8b (SQL Warehouses, the warehouse, Connection details)'

/** Catalogs of the time before Unity Catalog: they have no information schema. */
const LEGACY_CATALOGS = ['hive_metastore', 'spark_catalog']

/** `connection_config`; without `default_catalog` every catalog that the token may see is read. */
export const databricksConfig = Joi.object<DatabricksConfig>({
  host: Joi.string()
    .max(253)
    .pattern(/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/, 'host name')
    .required()
    .messages({
      'string.pattern.name':
        "host must be the workspace's host name, as in adb-1234567890.12.azuredatabricks.net, without https:// and without a path",
    })
    .meta({ address: true })
    .description("The workspace's host name (Server hostname in the warehouse's connection details)."),
  http_path: Joi.string()
    .max(200)
    .required()
    .custom((path: string, { error }) => {
      if (CLUSTER_PATH.test(path)) return error('path.cluster')
      return WAREHOUSE_PATH.test(path) ? path : error('path.unknown')
    })
    .messages({
      'path.cluster': `http_path is that of a cluster, which takes no statements over HTTPS alone: ${WHERE_TO_FIND}`,
      'path.unknown': `http_path names no SQL warehouse: ${WHERE_TO_FIND}`,
    })
    .description("The SQL warehouse's HTTP path: /sql/1.0/warehouses/ and its id."),
  default_catalog: Joi.string()
    .max(255)
    .lowercase()
    .invalid(...LEGACY_CATALOGS)
    // https://docs.databricks.com/sql/language-manual/sql-ref-names.html
    .pattern(/^[^./ \u0000-\u001f\u007f]+$/, 'catalog name')
    .messages({
      'any.invalid':
        'default_catalog must be a catalog of Unity Catalog; {{#value}} has no information schema',
      'string.pattern.name':
        'default_catalog must be the name of one catalog, without dots, blanks and slashes',
    })
    .description('A catalog of Unity Catalog: only it is read. Defaults to all that the token may see.'),
  access_token: Joi.string()
    .max(8192)
    .pattern(/^[\x21-\x7e]+$/, 'token')
    .required()
    .meta({ secret: true })
    .messages({ 'string.pattern.name': 'access_token must be a token without blanks and line breaks' })
    .description('A personal access token, best of a service principal with only SELECT and CAN USE.'),
})

/** The id of the warehouse that a configuration names. */
export function warehouseId({ http_path: path }: DatabricksConfig): string {
  return WAREHOUSE_PATH.exec(path)?.[1] ?? ''
}
