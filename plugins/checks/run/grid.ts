/**
 * SQL for the `next_run_at` of the oldest check of a table, whose grid a newer check takes up with its first run. From then
 * on they are due together, however far apart they were made, so that one scan measures them; a daily check falls together
 * with one of the runs of an hourly one. NULL of the oldest itself.
 * @param row the alias of the row of `checks`
 */
export function gridOfTable(row: string): string {
  return `(select o.next_run_at from checks o
    where o.table_id = ${row}.table_id and o.is_active and o.id < ${row}.id order by o.id limit 1)`
}
