import t from 'tap'
import { sentDuring } from '../../helpers/sent-statements.ts'
import { monitorsOf, startMonitors } from './stages.ts'

const { server, signUp, query, shop } = await startMonitors(t)
const tenant = await signUp()

const COLUMNS = 40

/** A file with two rules and a metric of each column. */
function documentOf(source: string, pattern = '^[a-z]+$') {
  const columns = Array.from({ length: COLUMNS }, (_, n) => `column_${n}`)
  return {
    version: 1,
    source,
    tables: {
      wide: {
        checks: {
          validity: columns.flatMap(column => [
            { key: `${column}.regex`, rule_type: 'REGEX', column_name: column, rule_config: { pattern } },
            { key: `${column}.null`, rule_type: 'NOT_NULL', column_name: column },
          ]),
          metric: columns.map(column => ({
            ...{ key: `${column}.nulls`, metric_type: 'null_percent', column_name: column },
          })),
        },
      },
    },
  }
}

const WIDE = `create table wide (id int primary key, ${Array.from({ length: COLUMNS }, (_, n) => `column_${n} text`).join(', ')})`

/** The sessions that are opened at sources while something is done. */
async function sessionsDuring(work: () => Promise<unknown>): Promise<number> {
  const { catalog } = server.plugins
  const { withConnection } = catalog
  let sessions = 0
  catalog.withConnection = (source, ask, options) => {
    sessions += 1
    return withConnection(source, ask, options)
  }
  try {
    await work()
  } finally {
    catalog.withConnection = withConnection
  }
  return sessions
}

t.test('many checks are asked about in one session, and created by few statements', async t => {
  const { ids, name } = await shop(t, [tenant], WIDE)
  const own = monitorsOf(tenant, ids[0]!)
  let sessions = 0
  const sent = await sentDuring(async () => {
    sessions = await sessionsDuring(async () => {
      t.match(await own.apply(documentOf(name)), { status: 200, body: { data: { create: 3 * COLUMNS } } })
    })
  })
  t.equal(sessions, 1)
  const changing = sent.filter(({ text }) => /^\s*insert into "?checks|audit_append/.test(text))
  t.ok(changing.length <= 4, `${changing.length} statements create and audit ${3 * COLUMNS} checks`)
  const [stored] = await query(
    `select (select count(*) from checks where source_id = $1 and kind = 'validity') as rules,
       (select count(*) from checks where source_id = $1 and kind = 'metric') as metrics,
       (select count(*) from monitors where source_id = $1) as managed`,
    [ids[0]],
  )
  t.match(stored, { rules: String(2 * COLUMNS), metrics: String(COLUMNS), managed: String(3 * COLUMNS) })
  const { body: log } = await tenant.ask('GET', `/api/v1/audit-log?limit=200`)
  const actions = (log.data as { action: string; sequence: number }[]).map(({ action }) => action)
  t.equal(
    actions.filter(
      action =>
        action === 'validity.created' || action === 'rule.created' || action === 'validity_rule.created',
    ).length,
    2 * COLUMNS,
  )
  t.equal(actions[0], 'monitors.applied', 'the summary comes last')

  const again = await sessionsDuring(async () => {
    t.match(await own.apply(documentOf(name)), { body: { data: { create: 0, unchanged: 3 * COLUMNS } } })
  })
  t.equal(again, 0, 'nothing is asked about what is there')
})

t.test('each pattern that the engine refuses is named', async t => {
  const { ids, name } = await shop(t, [tenant], WIDE)
  const own = monitorsOf(tenant, ids[0]!)
  const { status, body } = await own.apply(documentOf(name, '(a'))
  t.equal(status, 400)
  t.equal((body.error.details.errors as object[]).length, COLUMNS)
})
