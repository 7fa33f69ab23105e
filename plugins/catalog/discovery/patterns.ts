import Joi from 'joi'
import { isMatch } from 'matcher'
import { parseName, type TableRef } from '../../../connectors/catalog.ts'
import { invalidInput } from '../../../server/http/errors.ts'
import { inputErrorsOf, VALIDATION_OPTIONS } from '../../../server/http/validation-messages.ts'
import type { ReadPatterns, Patterns } from '../models.ts'

/** The patterns of a source without any. */
export const EVERYTHING: ReadPatterns = { include: [], exclude: [] }

/**
 * Whether a table is to be read: some include pattern names it, or there is none, and no exclude pattern does.
 *
 * A pattern is `table`, `schema.table` or `catalog.schema.table`, each part a glob of its own in which `*` stands
 * for any characters; a part with a dot is double-quoted. Case does not count.
 */
export function inScope({ include, exclude }: Patterns, table: TableRef): boolean {
  const names = [table.name, table.schema, table.catalog]
  const fits = (pattern: string) => globsOf(pattern).every((glob, level) => isMatch(names[level] ?? '', glob))
  return (include.length === 0 || include.some(fits)) && !exclude.some(fits)
}

/**
 * Compiles the patterns of a body to a predicate on tables, as those of a source.
 * @throws 400 for a pattern that is none
 */
export function patternMatcher(body: {
  include_patterns?: readonly string[]
  exclude_patterns?: readonly string[]
}): (table: TableRef) => boolean {
  const read = (field: keyof typeof body): string[] => {
    const checked = patternList.validate(body[field] ?? [], VALIDATION_OPTIONS)
    if (checked.error) throw invalidInput(inputErrorsOf(checked.error, patternList, { prefix: [field] }))
    return checked.value as string[]
  }
  const patterns = { include: read('include_patterns'), exclude: read('exclude_patterns') }
  return table => inScope(patterns, table)
}

/** Patterns are few and tables are many. */
const parsedPatterns = new Map<string, string[]>()

/** The parts of a pattern, the table's first. */
function globsOf(pattern: string): string[] {
  const known = parsedPatterns.get(pattern)
  if (known) return known
  // A backslash would escape and a leading ! negate; here they are characters of a name.
  const globs = (parseName(pattern) ?? [])
    .map(part => part.replaceAll('\\', '\\\\').replace(/^!/, '\\!'))
    .toReversed()
  if (parsedPatterns.size > 1_000) parsedPatterns.clear()
  parsedPatterns.set(pattern, globs)
  return globs
}

/** A list of patterns in a body. */
export const patternList = Joi.array()
  .items(
    Joi.string()
      .trim()
      .min(1)
      .max(400)
      .custom((pattern: string, helpers) => {
        const parts = parseName(pattern)
        return parts && parts.length <= 3 ? pattern : helpers.error('pattern.parts')
      })
      .messages({
        'pattern.parts':
          '{{#label}} must be table, schema.table or catalog.schema.table, with * for any characters and parts that hold dots in double quotes',
      }),
  )
  .max(200)
