import t from 'tap'
import { startSource } from '../../../helpers/source.ts'
import { HARD_VIEWS } from './hard-views.ts'
import { directOf, readCatalog, readDepend, readUses, SHOP } from './shop.ts'

const source = await startSource(t)
for (const statement of SHOP) await source.query(statement)
await source.query('set search_path = public, sales')
for (const [name, view] of Object.entries(HARD_VIEWS)) {
  const sql = typeof view === 'string' ? view : view.sql
  await source.query(`create view public.${name} ${sql.startsWith('(first') ? '' : 'as '}${sql}`)
}
const catalog = await readCatalog(source)
const depend = await readDepend(source)
await source.query(`set search_path = pg_catalog`)
const printed = new Map(
  (
    await source.query(
      `select relname, pg_get_viewdef(oid) as text from pg_class where relkind = 'v' and relnamespace = 'public'::regnamespace`,
    )
  ).map(({ relname, text }) => [String(relname), String(text)]),
)

for (const [name, view] of Object.entries(HARD_VIEWS)) {
  const sql = typeof view === 'string' ? view : view.sql
  t.test(name, t => {
    const expected = [...(depend.get(name) ?? [])].sort()
    const columns = catalog.get(`public.${name}`)
    const written = readUses(
      sql.startsWith('(first') ? `create view v ${sql}` : sql,
      catalog,
      sql.startsWith('(first') ? undefined : columns,
    )
    t.strictSame([...written.uses].sort(), expected, 'as it was written')
    const stored = readUses(printed.get(name) ?? '', catalog, columns)
    t.strictSame([...stored.uses].sort(), expected, 'as the engine prints it')
    t.strictSame(stored.pairs, written.pairs, 'the same pairs of columns')
    if (typeof view !== 'string') t.strictSame(directOf(written.pairs), view.direct)
    t.end()
  })
}
