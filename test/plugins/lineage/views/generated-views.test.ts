/** Random views, as they were written and as PostgreSQL prints them, against what PostgreSQL says that they use. */
import t from 'tap'
import { sharedCount } from '../../../helpers/share.ts'
import { startSource } from '../../../helpers/source.ts'
import { makeViews } from './generate.ts'
import { readCatalog, readDepend, readUses } from './shop.ts'

const VIEWS = sharedCount(500)
const SEED = 20_261_126

const source = await startSource(t)
const tables = [
  { name: 'a', columns: ['id', 'x', 'y'] },
  { name: 'b', columns: ['id', 'z', 'w', 'x'] },
  { name: 'wide', columns: ['k', 'l', 'm', 'n', 'id'] },
  { name: 'sales.a', columns: ['id', 'p'] },
]
await source.query('create schema sales')
for (const { name, columns } of tables)
  await source.query(`create table ${name} (${columns.map(column => `${column} text`).join(', ')})`)

const written = new Map<string, string>()
let tried = 0
for (const view of makeViews(tables, 4 * VIEWS, SEED)) {
  tried++
  try {
    await source.query(`create view ${view.name} as ${view.sql}`)
  } catch {
    continue
  }
  view.keep()
  written.set(view.name, view.sql)
  if (written.size === VIEWS) break
}
const catalog = await readCatalog(source)
const depend = await readDepend(source)
await source.query('set search_path = pg_catalog')
const printed = await source.query(
  `select relname as name, pg_get_viewdef(oid) as text from pg_class
    where relkind = 'v' and relnamespace = 'public'::regnamespace`,
)

t.test('tables and columns of generated views are found, all of them and no others', t => {
  t.equal(written.size, VIEWS, `of ${tried} that were tried`)
  const wrong: object[] = []
  let [found, missed, made] = [0, 0, 0]
  for (const { name, text } of printed) {
    const expected = depend.get(String(name)) ?? new Set()
    const columns = catalog.get(`public.${String(name)}`)
    const sql = written.get(String(name)) ?? ''
    for (const definition of [sql, String(text)]) {
      const { uses } = readUses(definition, catalog, columns)
      const [missing, extra] = [
        [...expected].filter(use => !uses.has(use)),
        [...uses].filter(use => !expected.has(use)),
      ]
      found += uses.size
      missed += missing.length
      made += extra.length
      if (missing.length + extra.length > 0) wrong.push({ definition, missing, extra })
    }
  }
  t.comment(`${found} uses, ${missed} missed, ${made} too many`)
  t.ok(found > 10 * VIEWS)
  t.strictSame(wrong.slice(0, 5), [], `${wrong.length} are wrong`)
  t.end()
})

t.test('what PostgreSQL prints gives the same pairs of columns as what was written', t => {
  const differing = printed.flatMap(({ name, text }) => {
    const columns = catalog.get(`public.${String(name)}`)
    const sql = written.get(String(name)) ?? ''
    const [one, other] = [sql, String(text)].map(each => readUses(each, catalog, columns).pairs)
    return JSON.stringify(one) === JSON.stringify(other) ? [] : [{ sql, text, one, other }]
  })
  t.strictSame(differing.slice(0, 3), [], `${differing.length} differ`)
  t.end()
})
