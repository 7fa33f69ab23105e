import assert from 'node:assert/strict'
import { tablePath } from '../catalog.ts'
import { join, sql } from '../sql.ts'
import { awkwardNames, CASE_VARIANTS } from './fixture.ts'
import { QUERY_OPTIONS, type PromiseGroup } from './kit.ts'

/** Names that break SQL written without care, of tables and of columns. */
export const namesGroups: readonly PromiseGroup[] = [
  {
    name: 'names',
    async run(t, kit) {
      const { fixture } = kit
      const names = awkwardNames(fixture)
      const refused = fixture.refusesNames ?? []
      const all = await kit.session(connection => connection.introspect())
      for (const [label, name] of names) {
        await kit.holds(t, `${label}: the name arrives as it is`, async () => {
          const path = tablePath(kit.ref(name))
          const found = all.filter(table => tablePath(table) === path)
          assert.deepEqual(
            found.map(({ columns }) => columns.map(column => column.name)),
            [[name]],
          )
        })
      }
      for (const label of refused) {
        await kit.holds(
          t,
          `${label}: the name arrives as it is`,
          async () => {},
          `${kit.connector.label} takes no such name`,
        )
      }
      await kit.holds(t, 'names that arrived can be quoted back', () =>
        kit.session(async connection => {
          for (const [label, name] of names) {
            const quoted = sql`select ${kit.quote(name)} from ${kit.table(name)}`
            const rows = await connection.query(quoted, QUERY_OPTIONS)
            assert.deepEqual(Object.entries(rows[0] ?? {}), [[name, 7]], label)
          }
        }),
      )
      await kit.holds(t, 'a scope finds each by its name, and no other', async () => {
        const refs = names.map(([, name]) => kit.ref(name))
        const found = await kit.session(connection => connection.introspect({ tables: refs }))
        assert.deepEqual(found.map(tablePath).sort(), refs.map(tablePath).sort())
      })
      await kit.holds(
        t,
        'names that differ by case are different tables',
        async () => {
          const refs = CASE_VARIANTS.map(name => kit.ref(name))
          const found = await kit.session(connection => connection.introspect({ tables: refs }))
          const shown = found.map(table => [table.name, ...table.columns.map(column => column.name)].join())
          assert.deepEqual(shown.sort(), ['TWIN,TWIN', 'twin,twin'])
        },
        refused.includes('case twin') ? `${kit.connector.label} takes no such name` : undefined,
      )
      await kit.holds(t, 'a quoted identifier comes back as the name of a result column', () =>
        kit.session(async connection => {
          const columns = names.map(([, name]) => sql`1 as ${kit.quote(name)}`)
          const rows = await connection.query(sql`select ${join(columns)}`, QUERY_OPTIONS)
          assert.deepEqual(
            Object.keys(rows[0] ?? {}),
            names.map(([, name]) => name),
          )
        }),
      )
    },
  },
]
