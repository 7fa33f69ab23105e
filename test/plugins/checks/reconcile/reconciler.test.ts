/** The rules of the reconciler, on kinds of checks that are in memory. */
import type { Server } from '@hapi/hapi'
import t from 'tap'
import type { CatalogApi, Source, TableContext } from '../../../../plugins/catalog/api.ts'
import type {
  CheckFields,
  CheckKindName,
  DeclaredCheck,
  DeclaredChecks,
} from '../../../../plugins/checks/declared/declared-checks.ts'
import { makeReconciler } from '../../../../plugins/checks/reconcile/reconciler.ts'
import type { ManagedCheck, Owner, WantedCheck } from '../../../../plugins/checks/reconcile/wanted-check.ts'
import type { Transaction } from '../../../../server/database/database.ts'

const trx = {} as Transaction
const source = { id: 's' } as Source
const record = async () => {}
const fileOf = () => 'f'

/** A reconciler of rules and schedules that are in memory, by id; `theirs` has what others manage. */
function world(stored: Record<string, [CheckKindName, tableId: string, CheckFields]>, theirs: string[] = []) {
  const checks = new Map(Object.entries(stored))
  const removals: string[] = []
  const ownerOf = (id: string) => (theirs.includes(id) ? { file: 'the contract c', key: id } : null)
  const kinds = (['validity', 'freshness'] as const).map(
    (
      kind,
    ): Pick<
      DeclaredChecks,
      'kind' | 'fixedFields' | 'list' | 'createAll' | 'setOwners' | 'update' | 'remove'
    > => ({
      kind,
      fixedFields: () => (kind === 'validity' ? ['rule_type'] : []),
      list: async () =>
        [...checks].flatMap(([id, [own, tableId, fields]]): DeclaredCheck[] =>
          own === kind
            ? [
                {
                  id,
                  tableId,
                  tablePath: tableId,
                  isTableActive: true,
                  fields,
                  owner: ownerOf(id),
                  body: fields,
                },
              ]
            : [],
        ),
      setOwners: async () => {},
      createAll: async (_trx, some) =>
        some.map(({ table, fields }, index) => {
          const id = `new-${kind}-${index}`
          checks.set(id, [kind, table.table.id, fields])
          return id
        }),
      async update(_trx, { id }, changes) {
        const [, tableId, fields] = checks.get(id)!
        checks.set(id, [kind, tableId, { ...fields, ...changes }])
        return true
      },
      remove: async (_trx, { id }) => checks.delete(id),
    }),
  )
  const reconciler = makeReconciler({
    catalog: {} as CatalogApi,
    types: {} as Server['checks'],
    kinds: () => kinds as DeclaredChecks[],
    notifyStopped: async (_trx, _source, { id }) => void removals.push(id),
  })
  return { reconciler, checks, removals }
}

const wanted = (key: string, kind: CheckKindName, tableId: string, fields: CheckFields): WantedCheck => ({
  key,
  kind,
  table: { source, table: { id: tableId } } as TableContext,
  tablePath: tableId,
  fields,
})

/** An owner that takes over checks without one, and would call them by their ids. */
const adopting = (...managed: ManagedCheck[]): Owner => ({
  kind: 'file',
  managed,
  nameUnmanaged: checks => new Map(checks.map(check => [check, check.id])),
})

const unique = { rule_type: 'UNIQUE', severity: 'warning' }

t.test('an equal check is adopted, unless its owner adopts none', async t => {
  const request = { wanted: [wanted('a', 'validity', 'orders', unique)], prune: false, record, fileOf }
  const one = world({ v1: ['validity', 'orders', unique] })
  const adopted = await one.reconciler.reconcile(trx, source, { ...request, owner: adopting() })
  t.match(adopted.steps, [{ action: 'adopt', stored: { id: 'v1' } }])
  t.equal(one.checks.size, 1)
  const other = world({ v1: ['validity', 'orders', unique] })
  const doubled = await other.reconciler.reconcile(trx, source, {
    ...request,
    owner: { kind: 'file', managed: [] },
  })
  t.match(doubled.steps, [{ action: 'create' }])
  t.equal(other.checks.size, 2)
  const foreign = world({ v1: ['validity', 'orders', unique] }, ['v1'])
  const beside = await foreign.reconciler.reconcile(trx, source, { ...request, owner: adopting() })
  t.match(beside.steps, [{ action: 'create' }], 'what another owner manages is not adopted')
})

t.test('what a change cannot set makes another check', async t => {
  const { reconciler, checks } = world({
    v1: ['validity', 'orders', unique],
    v2: ['validity', 'orders', unique],
    v3: ['validity', 'orders', unique],
  })
  const owner = adopting(
    ...['v1', 'v2', 'v3'].map(id => ({ file: 'f', key: id, kind: 'validity' as const, checkId: id })),
  )
  const { steps, ids } = await reconciler.reconcile(trx, source, {
    owner,
    wanted: [
      wanted('v1', 'validity', 'orders', { ...unique, severity: 'critical' }),
      wanted('v2', 'validity', 'orders', { ...unique, rule_type: 'NOT_NULL' }),
      wanted('v3', 'validity', 'items', unique),
    ],
    prune: false,
    record,
    fileOf,
  })
  t.strictSame(
    steps.map(({ action, changes }) => [action, changes.map(({ field }) => field)]),
    [
      ['change', ['severity']],
      ['replace', ['rule_type']],
      ['replace', ['table_path']],
    ],
  )
  t.strictSame([...checks.keys()], ['v1', 'new-validity-0', 'new-validity-1'])
  t.strictSame([...ids.values()], [...checks.keys()])
})

t.test('what is unwanted stays, or is removed and listeners hear of it', async t => {
  const owner = adopting({ file: 'f', key: 'v1', kind: 'validity', checkId: 'v1' })
  const keeping = world({ v1: ['validity', 'orders', unique] })
  const kept = await keeping.reconciler.reconcile(trx, source, {
    owner,
    wanted: [],
    prune: false,
    record,
    fileOf,
  })
  t.match([kept.left.length, kept.removed.length, keeping.checks.size], [1, 0, 1])
  const pruning = world({ v1: ['validity', 'orders', unique] })
  const request = { owner, wanted: [], prune: true, record, fileOf, stoppedBy: 'user:1' }
  const pruned = await pruning.reconciler.reconcile(trx, source, request)
  t.match([pruned.left.length, pruned.removed.length, pruning.checks.size], [0, 1, 0])
  t.strictSame(pruning.removals, ['v1'])
})

t.test('a table has one freshness schedule, and it may belong to another', async t => {
  const asked = [wanted('a', 'freshness', 'orders', { sla_threshold: '2h' })]
  const hourly = { sla_threshold: '1h' }
  const request = { wanted: asked, prune: true, record, fileOf }
  const free = world({ f1: ['freshness', 'orders', hourly] })
  const changed = await free.reconciler.reconcile(trx, source, { ...request, owner: adopting() })
  t.match(changed.steps, [{ action: 'change', stored: { id: 'f1' } }], 'one without an owner is adopted')
  const theirs = world({ f1: ['freshness', 'orders', hourly] }, ['f1'])
  const refused = await theirs.reconciler.reconcile(trx, source, { ...request, owner: adopting() })
  t.match(refused.steps, [{ action: 'refuse', refusedBy: { file: 'the contract c' } }])
  t.equal(refused.ids.size, 0)
  t.equal(theirs.checks.size, 1)
  const unwanted = world({ f1: ['freshness', 'orders', hourly] })
  const owner = {
    kind: 'file' as const,
    managed: [{ file: 'f', key: 'b', kind: 'freshness' as const, checkId: 'f1' }],
  }
  const made = await unwanted.reconciler.reconcile(trx, source, { ...request, owner })
  t.match(made.steps, [{ action: 'create' }], 'one that is removed by the same plan does not count')
  t.strictSame([...unwanted.checks.keys()], ['new-freshness-0'])
})

t.test('what goes beyond the plan that the engine was asked about is a conflict', async t => {
  const { reconciler, checks } = world({ v1: ['validity', 'orders', unique] })
  const all = [wanted('a', 'validity', 'orders', unique)]
  const request = { wanted: all, prune: false }
  const expected = await reconciler.plan(await reconciler.readState(trx, source, adopting()), request)
  t.match(expected.steps, [{ action: 'adopt' }])
  checks.clear()
  await t.rejects(
    reconciler.reconcile(trx, source, { ...request, owner: adopting(), expected, record, fileOf }),
    {
      message: /Checks of the source were changed/,
    },
  )
  t.equal(checks.size, 0)
})
