import t from 'tap'
import { audit } from '../../../server/http/audit.ts'
import { startServer } from '../../helpers/server.ts'

const { server, query, signUp } = await startServer(t)
const { companyId } = await signUp()
const stranger = await signUp('Other')

const append = (company: string, action: string, as = company) =>
  server.db.company(as, trx =>
    audit(
      trx,
      { companyId: company, actor: 'system' },
      { action, target: { type: 'thing', id: '1' }, details: { a: [1] } },
    ),
  )

t.test('entries of a company are numbered and chained by their hashes', async t => {
  const [{ from = 0 } = {}] = (await query(
    'select max(sequence)::int as from from audit_log where company_id = $1',
    [companyId],
  )) as { from: number | null }[]
  const numbers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => append(companyId, `thing.done_${index}`)),
  )
  t.same(
    numbers.sort((a, b) => a - b),
    numbers.map((_, index) => (from ?? 0) + index + 1),
  )
  const broken = await query(
    `select sequence from audit_log l where company_id = $1 and (hash <> audit_hash(l)
       or previous_hash <> coalesce((select p.hash from audit_log p where p.company_id = l.company_id and p.sequence = l.sequence - 1), '\\x'))`,
    [companyId],
  )
  t.same(broken, [])
})

t.test('nothing in the log can be changed, removed or written past its function', async t => {
  await append(companyId, 'thing.done')
  for (const statement of [
    'update audit_log set action = action',
    'delete from audit_log',
    `insert into audit_log select company_id, sequence + 1000, at, actor, action, target_type, target_id, details, request_id, address, previous_hash, hash from audit_log`,
    'update audit_heads set sequence = 0',
  ]) {
    const before = await query('select * from audit_log order by company_id, sequence')
    await server.db.company(companyId, trx => trx.raw(statement)).catch(() => undefined)
    t.same(await query('select * from audit_log order by company_id, sequence'), before, statement)
  }
  await t.rejects(
    server.db.system(trx => trx.raw('update audit_log set action = action')),
    /append-only/,
  )
  await t.rejects(
    server.db.system(trx => trx.raw('delete from audit_log')),
    /append-only/,
  )
})

t.test("another company's log is neither written nor read", async t => {
  await append(companyId, 'thing.done')
  await t.rejects(append(companyId, 'thing.done', stranger.companyId), /another company/)
  const seen = await server.db.company(stranger.companyId, async trx => {
    const { rows } = (await trx.raw('select count(*)::int as n from audit_log where company_id = ?', [
      companyId,
    ])) as {
      rows: { n: number }[]
    }
    return rows[0]?.n
  })
  t.equal(seen, 0)
})
