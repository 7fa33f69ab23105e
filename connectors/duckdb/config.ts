import Joi from 'joi'

/** A `connection_config` as validated. */
export interface DuckdbConfig {
  /** A database file, or a folder or pattern of data files; the server decides in which folders they may lie. */
  path: string
  memory_mb: number
  threads: number
}

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i

/** What begins with a scheme, and names that lead out of a folder, are refused before anything is looked for. */
const path = Joi.string()
  .max(4096)
  .custom((value: string, helpers) => {
    if (SCHEME.test(value))
      return helpers.message({
        custom: '{{#label}} must be a path of this machine, without a scheme such as file:// or s3://',
      })
    if (value.split(/[/\\]/).includes('..'))
      return helpers.message({ custom: '{{#label}} must not hold .. as a folder: write the whole path' })
    return value
  })

export const duckdbConfig = Joi.object<DuckdbConfig>({
  path: path
    .required()
    .description(
      'A DuckDB database file, or a folder or pattern (/data/lake/**/*.parquet) of Parquet, CSV or JSON files, in a folder of FILE_SOURCES. Needs the package @duckdb/node-api.',
    ),
  memory_mb: Joi.number()
    .integer()
    .min(64)
    .max(65_536)
    .default(1024)
    .description('Megabytes that one session may take; defaults to 1,024. There is no spilling to disk.'),
  threads: Joi.number()
    .integer()
    .min(1)
    .max(64)
    .default(2)
    .description('Threads of one statement; defaults to 2.'),
})
