/** A contract of version 3.1 with some parts. */
export function contract(parts: object = {}): Record<string, unknown> {
  return {
    apiVersion: 'v3.1.0',
    kind: 'DataContract',
    id: 'orders',
    name: 'Orders',
    version: '1.0.0',
    status: 'active',
    ...parts,
  }
}

export const ORDERS = {
  name: 'orders',
  physicalName: 'public.orders',
  properties: [
    { name: 'id', logicalType: 'integer', physicalType: 'bigint', primaryKey: true, required: true },
    { name: 'amount', logicalType: 'number', required: true },
    { name: 'status', logicalType: 'string', logicalTypeOptions: { maxLength: 20 } },
    { name: 'code', unique: true },
  ],
}
