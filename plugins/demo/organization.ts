/** The people of the demo and what they agreed on, as bodies of API requests. */
export const TEAMS = [
  { name: 'Sales data', description: 'Orders, payments and customers', members: ['ana@demo.example'] },
  { name: 'Logistics', description: 'Stock and shipments', members: ['li@demo.example'] },
]

export const OWNERS = [
  { asset_id: 'demo_shop.main.main.orders', owners: ['Sales data'] },
  { asset_id: 'demo_shop.main.main.customers', owners: ['Sales data'] },
  { asset_id: 'demo_shop.main.main.payments', owners: ['Sales data'] },
  { asset_id: 'demo_shop.main.main.inventory', owners: ['Logistics'] },
  { asset_id: 'demo_shop.main.main.stock_snapshots', owners: ['Logistics'] },
]

export const TAGS = [
  { asset_id: 'demo_shop', object_path: 'orders', name: 'finance', category: 'business' },
  { asset_id: 'demo_shop', object_path: 'payments', name: 'finance', category: 'business' },
  { asset_id: 'demo_shop', object_path: 'stock_snapshots', name: 'logistics', category: 'business' },
]

export const OPERATING_SCHEDULE = {
  name: 'Shop hours',
  timezone: 'Europe/Berlin',
  rules: [{ days: [1, 2, 3, 4, 5, 6], start: '08:00', end: '22:00' }],
}

export const ALERT_RULES = [
  { name: 'Everything critical', severities: ['critical'] },
  { name: 'Finance', tag_filter_mode: 'any', tag_filter_tags: ['finance'], cooldown_minutes: 60 },
]

/** No message about the warehouse while it is loaded anew. */
export const MUTE_WINDOW = {
  name: 'Weekly reload of the warehouse',
  schemas: ['demo_warehouse.main.main'],
  timezone: 'Europe/Berlin',
  rules: [{ days: [7], start: '02:00', end: '05:00' }],
}

/** Its last clause does not hold on the last day. */
export const ORDERS_CONTRACT = `
apiVersion: v3.1.0
kind: DataContract
id: orders
name: Orders for finance
version: 1.0.0
status: active
description:
  purpose: What finance reports revenue from
team:
  - username: ana@demo.example
    role: owner
schema:
  - name: orders
    properties:
      - name: id
        logicalType: integer
        primaryKey: true
      - name: customer_id
        logicalType: integer
      - name: status
        logicalType: string
        required: true
      - name: created_at
        logicalType: timestamp
        required: true
      - name: total
        logicalType: number
        logicalTypeOptions:
          minimum: 0
          maximum: 1000
`
