import { mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Orders that the last load of the copy lost, and orders whose totals it rounded. */
const LOST_ORDERS = 7
const ROUNDED_ORDERS = 4

const SCHEMA = `
  create table dim_customers (id integer primary key, email text, country text, created_at timestamp not null);
  create table fact_orders (id integer primary key, customer_id integer references dim_customers, status text not null,
    total decimal(10,2) not null, created_at timestamp not null);
  create view revenue_by_country as select c.country, count(*) as orders, sum(o.total) as revenue
    from fact_orders o join dim_customers c on c.id = o.customer_id group by 1;
`

/** Creates the SQLite file of a warehouse anew: a copy of the shop's customers and orders with a few rows that differ. */
export function copyToWarehouse(path: string, shopPath: string): void {
  mkdirSync(dirname(path), { recursive: true })
  rmSync(path, { force: true })
  const database = new DatabaseSync(path)
  try {
    database.exec('pragma synchronous = off')
    database.exec(SCHEMA)
    database.prepare('attach ? as shop').run(shopPath)
    database.exec(`
      begin;
      insert into dim_customers select id, email, country, created_at from shop.customers;
      insert into fact_orders select id, customer_id, status, total, created_at from shop.orders
        where id <= (select max(id) - ${LOST_ORDERS} from shop.orders);
      update fact_orders set total = round(total) + 1
        where id > (select max(id) - ${ROUNDED_ORDERS} from fact_orders);
      commit;
      detach shop`)
  } finally {
    database.close()
  }
}

/** The comparison of the copy with its original, as a body of an API request. */
export const COPY_OF_ORDERS = {
  name: 'The copy of orders is whole',
  table_path: 'fact_orders',
  right_source: 'demo_shop',
  right_table_path: 'orders',
  key_columns: ['id'],
  columns: ['customer_id', 'status', 'total'],
}

/** The rows a day are known of the past, by the orders' own timestamps. */
export const WAREHOUSE_METRIC = {
  metric_type: 'row_count',
  table_path: 'fact_orders',
  sensitivity: 3,
  backfill_days: 60,
}

/** Data flows from the shop to the warehouse and on to a dashboard, as bodies of API requests. */
export const WAREHOUSE_EDGES = [
  { upstream: 'demo_shop.main.main.orders', downstream: 'demo_warehouse.main.main.fact_orders' },
  { upstream: 'demo_shop.main.main.customers', downstream: 'demo_warehouse.main.main.dim_customers' },
  {
    upstream: 'demo_warehouse.main.main.revenue_by_country',
    downstream_external: { kind: 'dashboard', namespace: 'looker', name: 'Revenue by country' },
  },
]

export const WAREHOUSE_SCHEDULE = {
  table_path: 'fact_orders',
  monitoring_mode: 'explicit',
  sla_threshold: '24h',
}
