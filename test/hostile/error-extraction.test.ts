import { inspect } from 'node:util'
import t from 'tap'
import { validateOnEngine, validationSession } from '../../checks/engine-validation.ts'
import { buildCheckContext } from '../../checks/plan.ts'
import { scan } from '../../checks/scan.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import { raw } from '../../connectors/sql.ts'
import { readNewest } from '../../plugins/freshness/run/measure.ts'
import { check } from '../checks/scan-helpers.ts'
import { ATTACKS, attackSelect, SECRET_PATTERN, SETUP } from '../helpers/error-attacks.ts'
import { ATTACKED_ENGINES, startAttacked } from '../helpers/attacked-engines.ts'

const TIMEOUT_MS = 30_000

/** All that can be found in an error by whatever writes it down. */
function everythingIn(thrown: unknown): string {
  const shown = inspect(thrown, { depth: 12, showHidden: true, getters: true, maxStringLength: null })
  if (!(thrown instanceof Error)) return shown
  const { message, stack, cause } = thrown
  return [shown, message, stack, inspect(cause, { depth: 12, showHidden: true })].join('\n')
}

/** What a function throws; undefined if it does not. */
async function attempt(doing: () => Promise<unknown>): Promise<unknown> {
  try {
    await doing()
    return undefined
  } catch (error) {
    return error
  }
}

for (const [name, engine] of Object.entries(ATTACKED_ENGINES)) {
  t.test(
    `${name} raises no value of a row, asked about or measured`,
    { skip: engine.absent || false },
    async t => {
      const { on, table, connection, execute, placed } = await startAttacked(t, engine)
      for (const statement of SETUP[engine.dialect] ?? []) await execute(placed(statement))
      let raised = 0
      let quoted = 0
      for (const condition of ATTACKS[engine.dialect].map(placed)) {
        const thrown = await attempt(() =>
          connection.query(raw(placed(attackSelect(condition))), { timeoutMs: TIMEOUT_MS }),
        )
        if (thrown !== undefined) raised += 1
        t.ok(thrown === undefined || thrown instanceof ConnectorError, `${condition}: a ConnectorError`)
        t.notMatch(everythingIn(thrown), SECRET_PATTERN, `run: ${condition}`)
        // What the engine itself says of it, so that the attacks are known to be ones.
        const said = await attempt(() => execute(placed(attackSelect(condition))))
        if (SECRET_PATTERN.test(everythingIn(said))) quoted += 1

        for (const text of [condition, placed(attackSelect(condition))]) {
          const rule = check('CUSTOM_SQL', undefined, { sql_expression: text })
          const context = buildCheckContext(on.engine, table, rule)
          const questions = validationSession(connection, TIMEOUT_MS)
          const asked = await validateOnEngine(rule.type, context, questions).catch((error: unknown) => error)
          t.notMatch(everythingIn(asked), SECRET_PATTERN, `asked: ${text}`)
          // An error of a function that claims to be one of sign-in is taken for the connection's, and thrown.
          const measured: unknown = await scan(connection, on.engine, table, [rule], {
            timeoutMs: TIMEOUT_MS,
          }).catch((error: unknown) => error)
          t.notMatch(everythingIn(measured), SECRET_PATTERN, `measured: ${text}`)
        }

        const newest = await readNewest(
          connection,
          on.engine.dialect,
          [{ id: 'one', table, value: raw(`case when ${condition} then 1 else 0 end`), isStored: true }],
          { engine: on.engine.name, timeoutMs: TIMEOUT_MS },
        )
        t.notMatch(inspect(newest, { depth: 9 }), SECRET_PATTERN, `freshness: ${condition}`)
      }
      t.ok(raised >= engine.raises, `${raised} attacks raised an error`)
      t.ok(quoted >= engine.quotes, `${quoted} errors of the engine quote a value`)
      t.comment(
        `${name}: ${ATTACKS[engine.dialect].length} attacks, ${raised} errors, ${quoted} with a value`,
      )
      const usable = await connection.query(raw('select 1 as one'), { timeoutMs: TIMEOUT_MS })
      t.equal(Number(Object.values(usable[0] ?? {})[0]), 1, 'the session goes on')
    },
  )
}

t.test('what is asked about is neither run nor planned', async t => {
  for (const [name, conditions] of [
    [
      'PostgreSQL',
      [
        'peek_p0001() > 0',
        '(select peek_42601()) > 0',
        `spill((select max(secret) from people), '42P01') > 0`,
      ],
    ],
    ['MariaDB', ['peek() > 0', '(select peek()) > 0', 'spill((select max(secret) from people)) > 0']],
  ] as const) {
    const engine = ATTACKED_ENGINES[name]
    if (!engine || engine.absent) continue
    const { connection, execute, placed } = await startAttacked(t, engine)
    for (const statement of SETUP[engine.dialect] ?? []) await execute(placed(statement))
    for (const condition of conditions) {
      const text = placed(attackSelect(condition))
      await t.resolves(connection.validate!(raw(text), { timeoutMs: TIMEOUT_MS }), `${name}: ${condition}`)
      await t.rejects(connection.query(raw(text), { timeoutMs: TIMEOUT_MS }), `${name} raises: ${condition}`)
    }
  }
})
