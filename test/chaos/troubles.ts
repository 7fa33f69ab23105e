/**
 * An extension of the servers under test: raises and ends troubles by the rows of the table `chaos_troubles`, in their
 * order, each once.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Server } from '@hapi/hapi'
import type { Severity } from '../../plugins/alerts/api.ts'

interface Row {
  id: string
  companyId: string
  cause: string
  /** Null where the trouble is over. */
  severity: Severity | null
}

/** The table that a scenario makes. */
export const TROUBLES = `create table chaos_troubles (
  id bigint generated always as identity primary key, company_id uuid, cause text, severity text,
  is_done boolean not null default false)`

const TYPE = 'validity_failure'

export const plugin = {
  name: 'chaos-troubles',
  register(server: Server): void {
    process.once('disconnect', () => process.exit())
    server.ext('onPostStart', () => void go(server))
  },
}

async function go(server: Server): Promise<void> {
  for (;;) {
    const isTable = `select to_regclass('chaos_troubles') is not null as found`
    const [made] = await server.db.statement<{ found: boolean }>(isTable).catch(() => [])
    const [row] = made?.found
      ? await server.db.statement<Row>('select * from chaos_troubles where not is_done order by id limit 1')
      : []
    if (row) await act(server, row)
    else await wait(100)
  }
}

async function act(server: Server, { id, companyId, cause, severity }: Row): Promise<void> {
  const { alerts } = server.plugins
  await server.db.company(companyId, async trx => {
    if (severity === null) return alerts.resolve(trx, TYPE, cause)
    return alerts.raise(trx, {
      type: TYPE,
      cause,
      severity,
      sourceId: null,
      asset: { id: randomUUID(), qualifiedName: 'shop.public.orders', assetType: 'table' },
      ruleName: 'Total is positive',
      title: 'Some values are invalid',
      details: {},
    })
  })
  await server.db.statement('update chaos_troubles set is_done = true where id = :id', { id })
}
