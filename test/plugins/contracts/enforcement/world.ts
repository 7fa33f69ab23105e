import { depsOf } from '../../../../plugins/contracts/deps.ts'
import { enforceAgain } from '../../../../plugins/contracts/enforcement/enforce-job.ts'
import { discover, type World } from '../../../helpers/world.ts'
import { contract } from './contracts.ts'

export interface ClauseRecord {
  key: string
  kind: string
  title: string
  status: string
  reason: string | null
  check_id: string | null
  check_kind: string | null
}

/** What tests do with contracts of a world. */
export function contractsOf({ app, tenant, asset, source }: World) {
  const path = (name: string) => `/api/v1/sdk/contracts/${name}`
  const ask = async (method: string, url: string, body?: unknown) => {
    await app.query('delete from rate_windows')
    return tenant.ask(method, url, body)
  }
  return {
    ask,
    path,
    put: (name: string, parts: object, more: object = {}) =>
      ask('PUT', path(name), { contract: contract(parts), source: 'shop', ...more }),
    /** The clauses of a contract by their keys. */
    async clauses(name: string): Promise<Map<string, ClauseRecord>> {
      const { clauses } = (await ask('GET', path(name))).body.data as { clauses: ClauseRecord[] }
      return new Map(clauses.map(clause => [clause.key, clause]))
    },
    /** Changes the source and discovers it, with what follows from it. */
    async rediscover(...statements: string[]) {
      for (const statement of statements) await source.query(statement)
      await app.query('delete from rate_windows')
      const done = await discover({ app, tenant, asset })
      if (done.status !== 'completed') throw new Error(JSON.stringify(done))
      const contracts = await app.query('select id from data_contracts where source_id = $1', [asset.id])
      for (const { id } of contracts) await enforceAgain(depsOf(app.server), tenant.companyId, String(id))
    },
    /** Runs all checks of all tables. */
    async runChecks() {
      const tables = await app.query('select id from tables where source_id = $1 and is_active', [asset.id])
      for (const { id } of tables)
        await app.server.plugins.checks.runTable(tenant.companyId, String(id), 'active', {})
      await app.server.plugins.freshness.checkSource({ companyId: tenant.companyId, sourceId: asset.id })
    },
    /** Alerts about contracts, and those of checks that name one, the oldest first. */
    async alerts() {
      const found = await app.query(
        `select kind, status, severity, title, event -> 'details' as details from alerts
         where (kind = 'contract_violation' or event #> '{details,contracts}' is not null) and source_id = $1
         order by created_at, id`,
        [asset.id],
      )
      return found as {
        kind: string
        status: string
        severity: string
        title: string
        details: Record<string, unknown>
      }[]
    },
  }
}
