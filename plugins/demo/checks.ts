/** Checks of the demo, as bodies of API requests. */
export const METRICS = [
  { metric_type: 'row_count', table_path: 'orders' },
  { metric_type: 'mean', table_path: 'orders', column_name: 'total' },
  { metric_type: 'percentile', table_path: 'orders', column_name: 'total', percentile_value: 95 },
  { metric_type: 'row_count', table_path: 'page_views' },
  { metric_type: 'null_percent', table_path: 'customers', column_name: 'email' },
  { metric_type: 'row_count', table_path: 'customers' },
  { metric_type: 'mean', table_path: 'partner_imports', column_name: 'total' },
  { metric_type: 'row_count', table_path: 'stock_snapshots' },
  { metric_type: 'duplicate_count', table_path: 'payments', column_name: 'reference' },
  { metric_type: 'min_value', table_path: 'products', column_name: 'price' },
  { metric_type: 'mean_length', table_path: 'customers', column_name: 'full_name' },
].map(metric => ({ ...metric, sensitivity: 3 }))

export const RULES = [
  {
    rule_type: 'NOT_NULL',
    table_path: 'customers',
    column_name: 'email',
    detection_mode: 'auto',
    sensitivity: 3,
  },
  {
    rule_type: 'REGEX',
    table_path: 'customers',
    column_name: 'email',
    rule_config: { pattern: '^[^@ ]+@[^@ ]+$' },
    treat_null_as_valid: true,
  },
  {
    rule_type: 'ENUM',
    table_path: 'orders',
    column_name: 'status',
    rule_config: { allowed_values: ['new', 'paid', 'shipped', 'delivered', 'cancelled'] },
    severity: 'critical',
  },
  {
    rule_type: 'RANGE',
    table_path: 'partner_imports',
    column_name: 'total',
    rule_config: { min: 0, max: 1_000 },
    severity: 'critical',
    name: 'Totals of the partner are in euros',
  },
  { rule_type: 'UNIQUE', table_path: 'payments', column_name: 'reference', severity: 'critical' },
  { rule_type: 'RANGE', table_path: 'products', column_name: 'price', rule_config: { min: 0 } },
  {
    rule_type: 'DATE_FORMAT',
    table_path: 'shipments',
    column_name: 'shipped_on',
    rule_config: { format: 'YYYY-MM-DD' },
  },
  {
    rule_type: 'CUSTOM_SQL',
    table_path: 'payments',
    rule_config: { sql_expression: 'amount > 0' },
    name: 'Payments are positive',
  },
]

export const REFERENCES = [
  ['orders', 'customer_id', 'customers'],
  ['order_items', 'product_id', 'products'],
  ['payments', 'order_id', 'orders'],
].map(([child, column, parent]) => ({
  child_table_path: child,
  child_column_name: column,
  parent_table_path: parent,
  parent_column_name: 'id',
}))

export const SCHEDULES = [
  { table_path: 'orders', sla_threshold: '24h' },
  { table_path: 'inventory', sla_threshold: '24h' },
  { table_path: 'stock_snapshots', sla_threshold: '24h' },
].map(schedule => ({ ...schedule, monitoring_mode: 'explicit' }))

/** The schedule of the table that was late on a day of the past. Its checks are replayed, so that it has the alert of that day. */
export const LATE_SCHEDULE = {
  table_path: 'page_views',
  // Its views are seen once a day, an hour or so apart.
  sla_threshold: '26h',
  monitoring_mode: 'explicit',
}
