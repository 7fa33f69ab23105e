/** What a feature adds to the list of all checks: parts of one statement that reads a page of it. */
export interface ListedChecks {
  /** What the list calls a check of the feature: `validity`. */
  kind: string
  /** The kind of the alerts that it raises; their cause is the id of the check. */
  alertKind: string
  /**
   * A SELECT of all checks, without bindings: `company_id`, `source_id`, `table_id`, `created_at`, `key` and `id` (as text:
   * what results refer to, and what paths take), `name` (null: the check is called by its type, column and table),
   * `column_name`, `type`, `severity`, `is_active`, `check_interval`, `last_status`, and `has_series`, which is false of a
   * check whose results are no single series.
   */
  checks: string
  /**
   * A SELECT of the results of the check `c`, a row of `checks`, newest first and without bindings: `id`, `at`, `value`,
   * `status`, `low`, `high` and `is_learning`.
   */
  results: string
}
