import Joi from 'joi'
import { sql } from '../../connectors/sql.ts'
import type { RowRule } from '../check.ts'
import { MAX_FORMAT_CHARACTERS, readDateFormat } from '../date-format.ts'
import { asColumnText } from '../column-values.ts'

function readable(format: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  // Joi says so itself.
  if (format.length > MAX_FORMAT_CHARACTERS) return format
  const read = readDateFormat(format)
  return 'error' in read ? helpers.message({ custom: read.error }) : format
}

/**
 * DATE_FORMAT: the value parses in `format` and is a real calendar date: 2023-02-29 is not. The format is
 * strptime's (`%Y-%m-%d`) or in letters (`YYYY-MM-DD HH:mm:ss`). On date and timestamp columns every value
 * that is not NULL is valid. The collation of a text column does not matter, the padding of CHAR(n) does not count;
 * nothing else may stand before or after the date, an empty text and a last line break are invalid.
 */
export const dateFormat: RowRule<{ format: string }> = {
  family: 'rule',
  name: 'DATE_FORMAT',
  failure: 'with dates of another format',
  description: 'Values are real calendar dates in the given format.',
  config: Joi.object({
    format: Joi.string().min(1).max(MAX_FORMAT_CHARACTERS).required().custom(readable),
  }),
  column: 'required',
  mergesParts: true,
  kinds: ['text', 'integer', 'date', 'timestamp', 'other'],
  readsText: true,
  needs: ['dateParsing'],
  valid(context) {
    const { column, info, dialect, config } = context
    if (info?.kind === 'date' || info?.kind === 'timestamp') return sql`${column} is not null`
    const read = readDateFormat(config.format)
    if ('error' in read) throw new Error(read.error)
    return dialect.parsesAsDate(asColumnText(context), read.strptime)
  },
}
