import t from 'tap'
import { sql } from '../../connectors/sql.ts'
import { mariadbAbsent } from '../helpers/mariadb.ts'
import { check, run } from './scan-helpers.ts'
import { mariadbStand } from './test-databases.ts'

const collations = {
  latin1_swedish_ci: { values: ['A', 'é', 'É', 'ÿ'], lacks: ['漢', '🦆', 'ł'] },
  latin1_bin: { values: ['A', 'é', 'É', 'ÿ'], lacks: ['漢', '🦆', 'ł'] },
  latin2_general_ci: { values: ['A', 'ł', 'é'], lacks: ['漢', 'ÿ'] },
  utf8mb3_general_ci: { values: ['A', 'é', 'ł', '漢', '?'], lacks: ['🦆'] },
  utf8mb3_bin: { values: ['A', 'é', 'ł', '漢', '?'], lacks: ['🦆'] },
  ascii_general_ci: { values: ['A', '?'], lacks: ['é', '漢', '🦆'] },
  cp1251_general_ci: { values: ['A', 'Ж'], lacks: ['é', '漢', '🦆'] },
  sjis_japanese_ci: { values: ['A', '漢'], lacks: ['é', '🦆'] },
  ucs2_general_ci: { values: ['A', 'é', '漢'], lacks: ['🦆'] },
  utf16_general_ci: { values: ['A', 'é', '漢', '🦆'], lacks: [] },
  utf8mb4_general_ci: { values: ['A', 'é', '漢', '🦆'], lacks: [] },
  utf8mb4_bin: { values: ['A', 'é', '漢', '🦆'], lacks: [] },
}

t.test(
  'MariaDB: an ENUM lists texts that the character set of its column lacks',
  { skip: mariadbAbsent },
  async t => {
    const on = await mariadbStand(t)
    for (const [collation, { values, lacks }] of Object.entries(collations)) {
      const characterSet = collation.replace(/_.*/, '')
      await on.execute(
        `create table ${collation} (id integer primary key, v varchar(20) character set ${characterSet} collate ${collation})`,
      )
      const rows = values.map((value, index) => `(${index + 1}, '${value}')`)
      await on.execute(`insert into ${collation} values ${rows.join(', ')}, (99, null)`)
      const [found] = await on.connection.introspect({ tables: [on.ref(collation)] })
      const columns = found!.columns.map(column => ({ ...column, properties: { characterSet, collation } }))
      const table = { ...found!, columns }
      const invalidOf = async (allowed: readonly string[], nullIsValid: boolean) => {
        const rule = check('ENUM', 'v', { allowed_values: allowed }, { nullIsValid })
        const { outcomes } = await run(on, table, [rule, check('NOT_NULL', 'v')], { sampleLimit: 100 })
        const [outcome] = outcomes
        if (outcome?.status !== 'counted') return outcome
        t.equal(outcome.samples.length, outcome.invalid, `${collation}: samples`)
        return outcome.invalid
      }
      for (const allowed of [['A', ...lacks], lacks, values, [...values, ...lacks]]) {
        if (allowed.length === 0) continue
        // What a column can hold is equal by the column's own collation, as the engine says of a text alone.
        const held = allowed.filter(text => values.includes(text))
        let isListed = sql`1 = 0`
        for (const text of held) isListed = sql`${isListed} or v = ${text}`
        const [counted] = await on.connection.query(
          sql`select count(*) as n from ${on.engine.dialect.table(table)} where not (${isListed})`,
          { timeoutMs: 20_000 },
        )
        const invalid = held.length > 0 ? Number(counted?.n) : values.length
        t.equal(await invalidOf(allowed, true), invalid, `${collation}: ${allowed.join()}`)
        t.equal(await invalidOf(allowed, false), invalid + 1, `${collation}: ${allowed.join()} with NULL`)
      }
    }
  },
)
