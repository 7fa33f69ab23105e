import { mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'

/** Days of history before today. */
export const HISTORY_DAYS = 60
const DAY_MS = 86_400_000

/** Twenty-two tables and six views, of up to three levels. */
const SCHEMA = `
  create table currencies (code text primary key, name text not null);
  create table countries (code text primary key, name text not null, currency text references currencies);
  create table customers (id integer primary key, email text, full_name text not null, country text references countries,
    phone text, created_at timestamp not null);
  create table addresses (id integer primary key, customer_id integer references customers, street text, postcode text);
  create table categories (id integer primary key, name text not null unique, parent_id integer references categories);
  create table suppliers (id integer primary key, name text not null, country text references countries);
  create table products (id integer primary key, sku text not null, name text not null, price decimal(10,2) not null,
    weight_g integer, category_id integer references categories, supplier_id integer references suppliers);
  create table warehouses (id integer primary key, name text not null, country text references countries);
  create table inventory (product_id integer references products, warehouse_id integer references warehouses,
    quantity integer not null, updated_at timestamp not null, primary key (product_id, warehouse_id));
  create table coupons (code text primary key, percent integer not null, valid_until date);
  create table orders (id integer primary key, customer_id integer references customers, status text not null,
    coupon text references coupons, total decimal(10,2) not null, created_at timestamp not null);
  create table order_items (id integer primary key, order_id integer references orders, product_id integer references products,
    quantity integer not null, unit_price decimal(10,2) not null);
  create table payments (id integer primary key, order_id integer references orders, reference text not null,
    amount decimal(10,2) not null, method text not null, created_at timestamp not null);
  create table refunds (id integer primary key, payment_id integer references payments, reason text, created_at timestamp not null);
  create table carriers (id integer primary key, name text not null);
  create table shipments (id integer primary key, order_id integer references orders, carrier_id integer references carriers,
    shipped_on text, tracking text, created_at timestamp not null);
  create table reviews (id integer primary key, product_id integer references products, rating integer, body text,
    created_at timestamp not null);
  create table page_views (id integer primary key, path text not null, session text not null, created_at timestamp not null);
  create table support_tickets (id integer primary key, customer_id integer references customers, subject text, state text,
    created_at timestamp not null);
  create table newsletters (id integer primary key, subject text not null, sent_on date);
  create table partner_imports (id integer primary key, partner text not null, order_id integer, status text not null,
    total decimal(10,2) not null, received_at timestamp not null);
  create table stock_snapshots (id integer primary key, product_id integer references products, quantity integer not null,
    created_at timestamp not null);
  create view daily_sales as select date(created_at) as day, count(*) as orders, sum(total) as revenue from orders group by 1;
  create view weekly_sales as select strftime('%Y-%W', day) as week, sum(orders) as orders, sum(revenue) as revenue
    from daily_sales group by 1;
  create view customer_value as select c.id, c.country, count(o.id) as orders, sum(o.total) as revenue
    from customers c join orders o on o.customer_id = c.id group by 1, 2;
  create view daily_traffic as select date(created_at) as day, count(*) as views, count(distinct session) as sessions
    from page_views group by 1;
  create view stock_on_hand as select product_id, quantity, created_at from stock_snapshots
    where created_at = (select max(created_at) from stock_snapshots);
  create view low_stock as select product_id, quantity from stock_on_hand where quantity < 10;
`

/** A careless release: every kind of schema change that drift distinguishes. */
const RELEASE_CHANGES = `
  alter table customers add column loyalty_tier text;
  alter table products rename column weight_g to weight_grams;
  alter table addresses drop column postcode;
  drop table newsletters;
  create table gift_cards (code text primary key, balance decimal(10,2) not null);
  drop table support_tickets;
  create table support_tickets (id integer primary key, customer_id integer, subject varchar(80), state text,
    created_at timestamp not null);
`

const STATUSES = ['new', 'paid', 'shipped', 'delivered', 'cancelled']
const METHODS = ['card', 'invoice', 'wallet']
const COUNTRIES = ['DE', 'FR', 'NL', 'PL', 'US']

/** Pseudo-random numbers from 0 to 1, the same in each run: mulberry32, public domain, T. Ettinger. */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** The demo's database: a small shop that is filled a day at a time, with faults on the last day. */
export interface Shop {
  /** Inserts the rows of the day that ended `daysAgo` days ago; today (0) is the day of the faults. */
  addDay(daysAgo: number): void
  /** Runs statements, outside of a transaction. */
  run(statements: string): void
  /** Applies the careless release to the schema. */
  release(): void
  close(): void
}

/** Creates the shop's SQLite file anew, with master data and without orders. */
export function openShop(path: string, now: Date): Shop {
  mkdirSync(dirname(path), { recursive: true })
  rmSync(path, { force: true })
  const database = new DatabaseSync(path)
  // The file can be created again at any time, so no write has to wait for the disk.
  database.exec('pragma journal_mode = wal; pragma synchronous = off')
  database.exec(SCHEMA)
  const random = seededRandom(20_240_601)
  insertMasterData(database, random, formatMoment(now, HISTORY_DAYS + 1, 0.3))
  return {
    addDay: daysAgo => inTransaction(database, () => insertDay(database, random, now, daysAgo)),
    run: statements => database.exec(statements),
    release: () => inTransaction(database, () => database.exec(RELEASE_CHANGES)),
    close: () => database.close(),
  }
}

function inTransaction(database: DatabaseSync, work: () => void): void {
  database.exec('begin')
  work()
  database.exec('commit')
}

/** A moment of a day as UTC without a zone; `share` is the part of the day that has passed. */
function formatMoment(now: Date, daysAgo: number, share: number): string {
  const moment = new Date(now.getTime() - daysAgo * DAY_MS - (1 - share) * DAY_MS)
  return moment.toISOString().slice(0, 19).replace('T', ' ')
}

/** Inserts rows by table, in this order. */
function insertRows(database: DatabaseSync, rowsByTable: Record<string, Record<string, SQLInputValue>[]>) {
  for (const [table, rows] of Object.entries(rowsByTable)) {
    const names = Object.keys(rows[0] ?? {})
    if (names.length === 0) continue
    const statement = database.prepare(
      `insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`,
    )
    for (const row of rows) statement.run(...names.map(name => row[name] ?? null))
  }
}

function numbered<T>(countRows: number, make: (n: number) => T): T[] {
  return Array.from({ length: countRows }, (_, index) => make(index + 1))
}

function insertMasterData(database: DatabaseSync, random: () => number, created: string): void {
  insertRows(database, {
    currencies: ['EUR', 'USD', 'PLN'].map(code => ({ code, name: code })),
    countries: COUNTRIES.map(code => ({ code, name: code, currency: code === 'US' ? 'USD' : 'EUR' })),
    customers: numbered(300, n => buildCustomer(n, random, created, 0.02)),
    addresses: numbered(300, n => ({
      id: n,
      customer_id: n,
      street: `Street ${n}`,
      postcode: String(10_000 + n),
    })),
    categories: numbered(6, n => ({ id: n, name: `Category ${n}`, parent_id: n > 3 ? n - 3 : null })),
    suppliers: numbered(5, n => ({ id: n, name: `Supplier ${n}`, country: COUNTRIES[n - 1] ?? 'DE' })),
    products: numbered(60, n => ({
      id: n,
      sku: `SKU-${String(n).padStart(4, '0')}`,
      name: `Product ${n}`,
      price: 5 + Math.round(random() * 9_000) / 100,
      weight_g: 50 + Math.floor(random() * 3_000),
      category_id: 1 + (n % 6),
      supplier_id: 1 + (n % 5),
    })),
    warehouses: numbered(2, n => ({ id: n, name: `Warehouse ${n}`, country: 'DE' })),
    inventory: numbered(60, n => ({
      product_id: n,
      warehouse_id: 1,
      quantity: Math.floor(random() * 200),
      updated_at: created,
    })),
    coupons: numbered(4, n => ({ code: `SAVE${n * 5}`, percent: n * 5, valid_until: '2030-12-31' })),
    carriers: numbered(3, n => ({ id: n, name: `Carrier ${n}` })),
    newsletters: numbered(3, n => ({ id: n, subject: `Letter ${n}`, sent_on: created.slice(0, 10) })),
  })
}

function buildCustomer(n: number, random: () => number, created: string, withoutEmail: number) {
  return {
    id: n,
    email: random() < withoutEmail ? null : `customer${n}@example.com`,
    full_name: `Customer ${n}`,
    country: COUNTRIES[n % COUNTRIES.length] ?? 'DE',
    phone: null,
    created_at: created,
  }
}

function count(database: DatabaseSync, table: string): number {
  return Number(database.prepare(`select count(*) as n from ${table}`).get()?.n)
}

/**
 * Weekends have half the volume. The last day has the faults, of two causes: a partner's import brings bad values, which
 * spread from orders and customers; and the stock count is late, so that no snapshot of the stock is taken.
 */
function insertDay(database: DatabaseSync, random: () => number, now: Date, daysAgo: number): void {
  const isToday = daysAgo === 0
  const weekday = new Date(now.getTime() - daysAgo * DAY_MS).getUTCDay()
  const volume = weekday === 0 || weekday === 6 ? 0.5 : 1
  const moment = () => formatMoment(now, daysAgo, random())
  const known = count(database, 'customers')
  // Today the partner's import brings customers without email addresses.
  const arrivals = isToday ? 90 : Math.round((6 + random() * 4) * volume)
  const customers = numbered(arrivals, n => buildCustomer(known + n, random, moment(), isToday ? 0.9 : 0.02))
  const firstOrder = count(database, 'orders') + 1
  const orders = numbered(Math.round((55 + random() * 10) * volume), n => ({
    id: firstOrder + n - 1,
    customer_id: 1 + Math.floor(random() * known),
    // Today the partner sends a status that does not exist.
    status: isToday && n <= 5 ? 'shiped' : (STATUSES[Math.floor(random() * STATUSES.length)] ?? 'new'),
    coupon: random() < 0.1 ? 'SAVE10' : null,
    // Today the partner sends totals in cents.
    total: Math.round((20 + random() * 100) * (isToday ? 100 : 1) * 100) / 100,
    created_at: moment(),
  }))
  const firstImport = count(database, 'partner_imports') + 1
  const firstSnapshot = count(database, 'stock_snapshots') + 1
  const refund = count(database, 'refunds') + 1
  const review = count(database, 'reviews')
  const view = Number(database.prepare('select max(id) as n from page_views').get()?.n ?? 0)
  insertRows(database, {
    partner_imports: orders
      .filter((_order, index) => index % 3 === 0)
      .map(({ id, status, total, created_at: received_at }, index) => ({
        id: firstImport + index,
        partner: 'Marketplace',
        order_id: id,
        status,
        total,
        received_at,
      })),
    customers,
    orders,
    // Today the count is too old to be taken over.
    stock_snapshots: numbered(isToday ? 0 : 60, n => ({
      id: firstSnapshot + n - 1,
      product_id: n,
      quantity: Math.floor(random() * 200),
      created_at: formatMoment(now, daysAgo, 0.9),
    })),
    order_items: orders.map(order => ({
      id: order.id,
      order_id: order.id,
      product_id: 1 + Math.floor(random() * 60),
      quantity: 1 + Math.floor(random() * 4),
      unit_price: 20,
    })),
    payments: orders.map((order, index) => ({
      id: order.id,
      order_id: order.id,
      // Today payments of the imported orders have some references twice.
      reference: `PAY-${isToday && index % 10 === 1 ? order.id - 1 : order.id}`,
      amount: order.total,
      method: METHODS[order.id % METHODS.length] ?? 'card',
      created_at: order.created_at,
    })),
    shipments: orders.map(order => buildShipment(order, isToday)),
    refunds: [{ id: refund, payment_id: firstOrder, reason: 'damaged', created_at: moment() }],
    reviews: numbered(Math.round(8 * volume), n => ({
      id: review + n,
      product_id: 1 + Math.floor(random() * 60),
      rating: 1 + Math.floor(random() * 5),
      body: 'fine',
      created_at: moment(),
    })),
    page_views: numbered(Math.round((180 + random() * 40) * volume), n => ({
      id: view + n,
      path: `/p/${n % 60}`,
      session: `s${n % 50}`,
      created_at: moment(),
    })),
    support_tickets: [
      { id: firstOrder, customer_id: 1, subject: 'Where is it?', state: 'open', created_at: moment() },
    ],
  })
  // The import also sets prices of the partner's products.
  if (isToday) database.exec(`update products set price = -1 where id in (7, 8)`)
  // The stock count stopped three days ago.
  if (daysAgo >= 3) database.prepare('update inventory set updated_at = ?').run(formatMoment(now, daysAgo, 1))
}

function buildShipment(order: { id: number; created_at: string }, isToday: boolean) {
  const shipped = order.created_at.slice(0, 10)
  return {
    id: order.id,
    order_id: order.id,
    carrier_id: 1 + (order.id % 3),
    // Today the imported orders have dates that are written another way.
    shipped_on: isToday && order.id % 3 === 0 ? shipped.split('-').reverse().join('.') : shipped,
    tracking: `T${order.id}`,
    created_at: order.created_at,
  }
}
