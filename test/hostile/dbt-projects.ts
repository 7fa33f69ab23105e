/** dbt projects that are made to hold the service up. */
import type { Server } from '@hapi/hapi'
import type { Tenant } from '../helpers/server.ts'
import { manifest, model, node } from '../plugins/lineage/feeds/dbt-project.ts'

/** A project whose models have compiled SQL that takes long to read, of about so many MiB. */
export function slowProject(sourceId: string, mebibytes: number): string {
  const sql = `select ${Array.from({ length: 20_000 }, (_, index) => `o.total + ${index} as c${index}`).join(', ')} from shop.public.orders o`
  const count = Math.ceil((mebibytes * 1_048_576) / sql.length)
  const models = Array.from({ length: count }, (_, index) =>
    node('model', `m${index}`, { compiled_code: sql }),
  )
  const catalog = {
    nodes: {
      [model('orders')]: {
        metadata: { database: 'shop', schema: 'public', name: 'orders' },
        columns: { total: { name: 'total', index: 1 } },
      },
    },
  }
  return JSON.stringify({ source: sourceId, manifest: manifest(models), catalog })
}

/** Sends a body as bytes, so that making it is no part of what is measured. */
export async function sendBytes(
  server: Server,
  to: Pick<Tenant, 'key'>,
  path: string,
  payload: string | Buffer,
) {
  const { statusCode, result } = await server.inject({
    ...{ method: 'POST', url: path, payload },
    headers: { authorization: `Bearer ${to.key}`, 'content-type': 'application/json' },
  })
  return { status: statusCode, body: JSON.stringify(result) }
}
