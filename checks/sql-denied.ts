/**
 * Functions that a read-only session does not stop: they read files, use the network, wait, lock, change the
 * session, administer the server, run SQL given as text, or are volatile (a check must give the same number
 * twice). Matched against the lower-cased name without its schema; engines share one list.
 */
const DENIED: readonly RegExp[] = [
  // PostgreSQL: everything of the server's own except what the allowed list names.
  /^pg_/,
  /^(lo|be_lo)_/,
  /^(loread|lowrite|dblink.*|postgres_fdw_.*|binary_upgrade_.*|txid_.*|set_config|current_setting)$/,
  /^(nextval|setval|currval|lastval|setseed|inet_(server|client)_(addr|port)|icu_unicode_version)$/,
  /^(query|table|cursor|schema|database)_to_xml/,
  /^(ts_stat|ts_rewrite|crosstab.*|connectby|xpath_table|brin_.*|gin_clean_pending_list|currtid.*)$/,
  /^(random|random_normal|gen_random_(uuid|bytes)|uuid_generate_.*|uuidv[47]|clock_timestamp|timeofday)$/,
  /^(http|http_.*|net_.*|aws_.*|cron_.*)$/,
  // MySQL and MariaDB.
  /^(sleep|benchmark|load_file|get_lock|release_lock|release_all_locks|is_free_lock|is_used_lock)$/,
  /^((master|source)_(pos|gtid)_wait|wait_(for|until)_.*|sys_(exec|eval|get|set)|rand|uuid|uuid_short)$/,
  /^(last_insert_id|row_count|found_rows)$/,
  // SQLite and DuckDB.
  /^(load_extension|readfile|writefile|edit|lsmode|zipfile|fts[35].*tokenizer|randomblob|pragma_.*)$/,
  /^(read_.*|parquet_.*|sniff_csv|glob_.*|getenv|query|query_table|install|sqlite_.*|iceberg_.*)$/,
  // Warehouses.
  /^(system\$.*|external_query|ai_.*|java_method|reflect|try_reflect|secret|try_secret|remote_query)$/,
]

/** Functions under PostgreSQL's `pg_` that only look at their arguments. */
const ALLOWED = new Set([
  'pg_typeof',
  'pg_column_size',
  'pg_size_pretty',
  'pg_size_bytes',
  'pg_input_is_valid',
])

/** Whether a function may not be called in CUSTOM_SQL. */
export function isDenied(name: string): boolean {
  const lower = name.toLowerCase()
  return !ALLOWED.has(lower) && DENIED.some(pattern => pattern.test(lower))
}
