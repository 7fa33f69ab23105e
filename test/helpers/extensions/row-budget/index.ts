import type { Plugin } from '@hapi/hapi'
import { rowBudgets } from './kind.ts'
import { budgetResource } from './resource.ts'

/** An extension that adds a kind of check: a table has at most so many rows. */
export const plugin: Plugin<undefined> = {
  name: 'row-budgets',
  register(server) {
    const { checks } = server.plugins
    checks.addKind(rowBudgets)
    server.route(checks.routesOf(budgetResource({ db: server.db, checks })))
  },
}
