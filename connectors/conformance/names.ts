import assert from 'node:assert/strict'
import { tablePath } from '../catalog.ts'
import { join, sql } from '../sql.ts'
import { awkwardNames, CASE_VARIANTS } from './fixture.ts'
import { query, type PromiseGroup } from './kit.ts'

/** Names that break SQL written without care, of tables and of columns. */
export const namesGroups: readonly PromiseGroup[] = [
  {
    name: 'names',
    async run(kit) {
      const { fixture } = kit
      const names = awkwardNames(fixture)
      const refused = fixture.refusesNames ?? []
      const all = await kit.session(connection => connection.introspect())
      for (const [label, name] of names) {
        await kit.holds(`${label}: the name arrives as it is`, async () => {
          const path = tablePath(kit.ref(name))
          const found = all.filter(table => tablePath(table) === path)
          assert.deepEqual(
            found.map(({ columns }) => columns.map(column => column.name)),
            [[name]],
          )
        })
      }
      const refusal = `${kit.connector.label} takes no such name`
      for (const label of refused)
        await kit.holdsUnless(refusal, `${label}: the name arrives as it is`, async () => {})
      await kit.holdsInSession('names that arrived can be quoted back', async connection => {
        for (const [label, name] of names) {
          const [row = {}] = await query(connection, sql`select ${kit.quote(name)} from ${kit.table(name)}`)
          assert.deepEqual(Object.entries(row), [[name, 7]], label)
        }
      })
      await kit.holds('a scope finds each by its name, and no other', async () => {
        const wanted = names.map(([, name]) => name)
        const found = await kit.introspect(...wanted)
        assert.deepEqual(found.map(tablePath).sort(), wanted.map(name => tablePath(kit.ref(name))).sort())
      })
      await kit.holdsUnless(
        refused.includes('case twin') ? refusal : undefined,
        'names that differ by case are different tables',
        async () => {
          const found = await kit.introspect(...CASE_VARIANTS)
          const shown = found.map(table => [table.name, ...table.columns.map(column => column.name)].join())
          assert.deepEqual(shown.sort(), ['TWIN,TWIN', 'twin,twin'])
        },
      )
      await kit.holds('a quoted identifier comes back as the name of a result column', async () => {
        const columns = names.map(([, name]) => sql`1 as ${kit.quote(name)}`)
        const [row = {}] = await kit.query(sql`select ${join(columns)}`)
        assert.deepEqual(
          Object.keys(row),
          names.map(([, name]) => name),
        )
      })
    },
  },
]
