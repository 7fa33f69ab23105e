import Joi from 'joi'
import type { Model, QueryBuilder } from 'objection'

/** A whole number in a query, in plain digits: `1e3` and ` 5 ` are not. */
export const queryInteger = (min: number, max: number) =>
  Joi.string()
    .custom((value: string, helpers) => {
      if (!/^-?\d{1,15}$/.test(value)) return helpers.error('number.integer')
      const number = Number(value)
      if (number < min) return helpers.error('number.min', { limit: min, value: number })
      return number > max ? helpers.error('number.max', { limit: max, value: number }) : number
    })
    .meta({ openapi: { type: 'integer', minimum: min, maximum: max } })

/** `true` or `false` in a query, nothing else. */
export const queryBoolean = Joi.boolean().sensitive()

/**
 * One or more of some words in a query, separated by commas, of which any will do: read as a list.
 * @param meanings what each word is read as; a list of words is read as it is
 */
export const queryWords = (meanings: readonly string[] | ReadonlyMap<string, string>) => {
  const meaningOf = new Map('get' in meanings ? meanings : meanings.map(word => [word, word] as const))
  const words = [...meaningOf.keys()]
  return Joi.string()
    .max(500)
    .custom((text: string, helpers) => {
      const given = text.split(',').map(word => word.trim())
      const unknown = given.find(word => !meaningOf.has(word))
      if (unknown !== undefined) return helpers.error('any.only', { valids: words, unknown })
      return [...new Set(given.map(word => meaningOf.get(word)))]
    })
    .meta({ openapi: { type: 'array', items: { type: 'string', enum: words }, minItems: 1 } })
    .description(`One or more of ${words.join(', ')}, separated by commas.`)
}

export const pageQuery = ({ max = 100, fallback = 50 }: { max?: number; fallback?: number } = {}) => ({
  limit: queryInteger(1, max).default(fallback),
  offset: queryInteger(0, 1_000_000_000).default(0),
})

export interface Page {
  limit: number
  offset: number
}

export interface Pagination extends Page {
  total: number
  has_more: boolean
}

/** The order of most lists: newest first. @param columns the time, and what decides between the same times */
export function newestFirst(...columns: readonly string[]): { column: string; order: 'desc' }[] {
  return columns.map(column => ({ column, order: 'desc' }))
}

export function pagination(total: number, { limit, offset }: Page): Pagination {
  return { total, limit, offset, has_more: offset + limit < total }
}

/** One page of what a query finds, in its order, and the total, counted only where the page does not show it. */
export function pageOf<Row extends Model>(query: QueryBuilder<Row, Row[]>, page: Page) {
  return joinedPageOf(query, page, own => own)
}

/**
 * One page as `pageOf` gives it, joined with other tables.
 * @param join reads the page, a query that stands in place of the table, and joins to it, in the same order: of the
 *   rows before the page nothing is joined
 */
export async function joinedPageOf<Row extends Model, Joined extends Row>(
  query: QueryBuilder<Row, Row[]>,
  { limit, offset }: Page,
  join: (page: QueryBuilder<Row, Row[]>) => PromiseLike<Joined[]>,
): Promise<{ results: Joined[]; total: number }> {
  const results = await join(query.clone().limit(limit).offset(offset))
  const isLast = results.length < limit && (results.length > 0 || offset === 0)
  return { results, total: isLast ? offset + results.length : await query.resultSize() }
}
