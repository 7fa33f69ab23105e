import Joi from 'joi'
import { sql } from '../../connectors/sql.ts'
import type { RowRule } from '../check.ts'
import { asColumnText } from '../column-values.ts'

/**
 * REGEX: the value matches `pattern` somewhere (searched, not anchored; write ^ and $ for the whole value), by the
 * engine's own regular expressions and, where those go by it, the column's own collation: MySQL's that ignore case and
 * PostgreSQL's citext match `A` by `a`. A pattern has 1 to 1,000 characters; its syntax is the engine's to judge. On
 * columns that are not text the value is matched as the engine prints it.
 */
export const regex: RowRule<{ pattern: string }> = {
  family: 'rule',
  name: 'REGEX',
  label: 'Pattern',
  failure: 'with values that do not match',
  description: 'Values match a regular expression.',
  config: Joi.object({ pattern: Joi.string().min(1).max(1000).required() }),
  column: 'required',
  mergesParts: true,
  kinds: ['text', 'integer', 'decimal', 'date', 'other'],
  readsText: true,
  needs: ['regex'],
  // A text of one letter, so that the engine compiles the pattern and reads no table.
  engineValidations: ({ config, dialect }) => [
    {
      select: sql`select ${dialect.countIf(dialect.matches(dialect.asText(sql`${'x'}`), config.pattern))} as x`,
    },
  ],
  configWarnings: (_, column) =>
    column?.nondeterministicCollation === undefined
      ? []
      : [
          `The collation ${column.nondeterministicCollation} of ${column.name} is nondeterministic, and the engine has no regular expressions for it: the pattern is matched by the default collation.`,
        ],
  valid: context =>
    context.dialect.matches(
      asColumnText(context),
      context.config.pattern,
      context.info?.kind === 'text' ? context.info : undefined,
    ),
}
