import type { SqlReference } from '../../connectors/dialect.ts'

/**
 * Functions that a read-only session does not stop: they read files, use the network, wait, lock, change the
 * session, administer the server, run SQL given as text, cost extra, or are volatile (a check must give the same
 * number twice). Matched against the lower-cased name without its schema; engines share one list.
 */
const DENIED: readonly RegExp[] = [
  // MySQL (https://dev.mysql.com/doc/refman/8.4/en/built-in-function-reference.html and its loadable functions) and
  // MariaDB (https://mariadb.com/kb/en/function-and-operator-reference).
  /^(sleep|benchmark|load_file|get_lock|release_lock|release_all_locks|is_free_lock|is_used_lock)$/,
  /^((master|source)_(pos|gtid)_wait|wait_(for|until)_.*|wsrep_.*|sys_(exec|eval|get|set)|sys_guid)$/,
  /^(rand|uuid|uuid_short|uuid_?v[0-9]|random_bytes|sysdate|encrypt|connection_id|ps_.*|binlog_gtid_pos)$/,
  /^(last_insert_id|row_count|found_rows|name_const|service_(get|release)_.*|version_tokens_.*|spider_.*)$/,
  /^(group_replication_.*|asynchronous_connection_.*|keyring_.*|audit_log_.*|mysql_firewall_.*)$/,
  /^((gen|masking)_(rnd|range|dictionary|blocklist|blacklist|dictionaries).*|set_firewall_.*|lib_mysqludf_.*)$/,
  /^(flush_rewrite_rules|load_rewrite_rules|ml_.*)$/,
  // SQLite (https://www.sqlite.org/lang_corefunc.html, https://www.sqlite.org/cli.html) and DuckDB.
  /^(load_extension|readfile|writefile|edit|lsmode|zipfile|sqlar_.*|fsdir|fts[35].*tokenizer|randomblob)$/,
  /^(last_insert_rowid|changes|total_changes|pragma_.*|dbstat|sqlite_.*)$/,
  /^(read_.*|parquet_.*|sniff_csv|glob_.*|getenv|query|query_table|install|iceberg_.*)$/,
  /^(postgres|mysql|delta|arrow|csv)_(scan|query|attach|execute).*$/,
  // Snowflake (https://docs.snowflake.com/en/sql-reference/functions-all): data generation, stages, other queries.
  /^(system\$.*|randstr|uniform|normal|zipf|seq[1248]|uuid_string|generator|result_scan|last_query_id)$/,
  /^(get_presigned_url|build_(stage|scoped)_.*|get_stage_.*|infer_schema|encrypt_raw|getnextval)$/,
  // BigQuery (https://cloud.google.com/bigquery/docs/reference/standard-sql/functions-all).
  /^(generate_uuid|external_query|vector_search)$/,
  // Databricks (https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-functions-builtin-alpha).
  /^(ai_.*|java_method|reflect|try_reflect|secret|try_secret|list_secrets|remote_query|http_request)$/,
  /^(randn|identifier|shuffle|monotonically_increasing_id|spark_partition_id|input_file_.*|cloud_files_.*|event_log)$/,
  // Redshift (https://docs.aws.amazon.com/redshift/latest/dg/c_SQL_functions.html).
  /^(change_(query|session|user)_priority|explain_model)$/,
]

/** Functions of PostgreSQL and its extensions; field syntax can call them too. Includes all of `pg_`. */
const DENIED_FIELDS: readonly RegExp[] = [
  /^pg_/,
  /^(lo|be_lo)_/,
  /^(loread|lowrite|dblink.*|postgres_fdw_.*|binary_upgrade_.*|txid_.*|set_config|current_setting)$/,
  /^(nextval|setval|currval|lastval|setseed|inet_(server|client)_(addr|port)|icu_unicode_version)$/,
  /^(query|table|cursor|schema|database)_to_xml/,
  /^(ts_stat|ts_rewrite|crosstab.*|connectby|xpath_table|brin_.*|gin_clean_pending_list|currtid.*)$/,
  /^(random|random_normal|gen_random_(uuid|bytes)|uuid_generate_.*|clock_timestamp|timeofday)$/,
  /^(array_sample|array_shuffle|current_query|gen_salt|pgp_(sym|pub)_encrypt.*)$/,
  /^(http|http_.*|net_.*|aws_.*|azure_.*|cron_.*)$/,
]

/** Schemas whose functions call models or the outside: SNOWFLAKE.CORTEX, BigQuery's AI, ML and OBJ, pg_net and cron. */
const DENIED_SCHEMAS = /^(cortex|ai|ml|obj|keys|net|http|cron|dbms_\w+|utl_\w+|aws_\w+|azure_\w+)$/

/** Functions under `pg_` that only inspect their arguments. */
const ALLOWED = new Set('pg_typeof pg_column_size pg_size_pretty pg_size_bytes pg_input_is_valid'.split(' '))

/** Whether something may not be called in CUSTOM_SQL. */
export function isDenied({ kind, schema, name }: SqlReference): boolean {
  const lower = name.toLowerCase()
  const matches = (patterns: readonly RegExp[]) =>
    !ALLOWED.has(lower) && patterns.some(pattern => pattern.test(lower))
  switch (kind) {
    case 'function':
      return DENIED_SCHEMAS.test(schema?.toLowerCase() ?? '') || matches(DENIED) || matches(DENIED_FIELDS)
    case 'field':
      return matches(DENIED_FIELDS)
    case 'column':
      // Reading a sequence of Snowflake advances it: numbers.nextval.
      return lower === 'nextval'
    default:
      return false
  }
}

/**
 * Whether something may not be read in CUSTOM_SQL: a file by its path, which Databricks and DuckDB read as a table
 * (`parquet."s3://…"`), or a table-valued function of SQLite.
 * @param parts the schema, or an empty text, and the name
 */
export function isDeniedTable(parts: readonly string[]): boolean {
  const name = parts.at(-1) ?? ''
  return (
    parts.some(part => /[/\\:]/.test(part)) || /^(pragma_.*|dbstat|sqlite_(dbpage|stmt|dbdata))$/i.test(name)
  )
}
