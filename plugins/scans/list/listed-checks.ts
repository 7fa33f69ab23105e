/** What a feature adds to the list of all checks: parts of one statement that reads a page of it. */
export interface ListedChecks {
  /** What the list calls a check of the feature: `validity`. */
  kind: string
  /** The kind of the alerts that it raises; their cause is the id of the check. */
  alertKind: string
  /**
   * A SELECT of all checks, without bindings: `company_id`, `source_id`, `table_id`, `created_at`, `number` (a bigint that
   * grows with each new check) and `id` (as text: what paths take), `name` (null: the check is called by its type, column
   * and table), `column_name`, `type`, `severity`, `is_active`, `check_interval`, `last_status` (pass, warning, fail or error,
   * all letters large or all small), `is_learning`, `status_rank` (1 failing, 2 error, 3 warning, 4 learning, 5 pending,
   * 6 passing), `search_text` (name, type, column and table in small letters), `table_path` (schema and table in small
   * letters), and `has_series`, which is false of a check whose results are no single series. One index begins with
   * `company_id`, `created_at desc` and `number desc` and holds what filters ask for: ids, `is_active`, `status_rank` and both
   * texts. Another begins with `company_id`, `status_rank`, `created_at desc` and `number desc` and holds ids and `is_active`.
   */
  checks: string
  /**
   * A SELECT of the results of the check `c`, a row of `checks`, newest first and without bindings: `id`, `at`, `value`,
   * `status`, `low`, `high` and `is_learning`.
   */
  results: string
}
