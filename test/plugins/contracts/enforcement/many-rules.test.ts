import t from 'tap'
import { sentDuring, type SentStatement } from '../../../helpers/sent-statements.ts'
import { makeStage, makeWorldOn } from '../../../helpers/world.ts'
import { contractsOf } from './world.ts'

const RULES = Number(process.env.MANY_RULES ?? 150)

const stage = await makeStage(t)

/** A contract of many rules, none of which the catalog can judge. */
const partsOf = (least: number) => ({
  schema: [
    {
      name: 'facts',
      properties: [
        {
          name: 'id',
          quality: Array.from({ length: RULES }, (_, n) => ({
            ...{ name: `rows ${n}`, metric: 'nullValues', mustBeGreaterOrEqualTo: least + n },
          })),
        },
      ],
    },
  ],
})

/** Statements that store clauses, checks and entries of the audit log. */
const isStoring = ({ text }: SentStatement) =>
  /^\s*(insert into|update|delete from) "?(checks|contract_clauses)|audit_append/.test(text)

t.test(
  'a contract of many rules is stored by few statements, and asks the engine in one session',
  async t => {
    const world = await makeWorldOn(t, stage, ['create table facts (id int)'])
    const { put, clauses, rediscover } = contractsOf(world)
    await rediscover()
    const { catalog } = world.app.server.plugins
    const { withConnection } = catalog
    let sessions = 0
    catalog.withConnection = (source, ask, options) => {
      sessions += 1
      return withConnection(source, ask, options)
    }
    t.teardown(() => (catalog.withConnection = withConnection))
    const send = async (least: number, status: number) => {
      sessions = 0
      const sent = await sentDuring(async () =>
        t.match(await put('facts', partsOf(least)), { status }, `a contract from ${least}`),
      )
      t.equal(sessions, 1, 'sessions of the source')
      const storing = sent.filter(isStoring).length
      t.comment(`${sent.length} statements, ${storing} of them store`)
      return storing
    }
    const created = await send(0, 201)
    t.ok(created <= 8, `${created} statements store ${RULES} rules`)
    const ids = async () => [...(await clauses('facts')).values()].flatMap(({ check_id: id }) => id ?? [])
    const first = await ids()
    t.equal(new Set(first).size, RULES)
    const kept = await send(0, 200)
    t.ok(kept <= 4, `${kept} statements store a contract that did not change`)
    t.strictSame(await ids(), first)
    const replaced = await send(1, 200)
    t.equal(new Set([...(await ids()), ...first]).size, 2 * RULES, 'other rules are other checks')
    t.comment(`${replaced} statements store rules that all changed`)
  },
)
