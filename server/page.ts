import Joi from 'joi'

/** A whole number in a query, in plain digits: `1e3` and ` 5 ` are not. */
export const queryInteger = (min: number, max: number) =>
  Joi.string()
    .pattern(/^-?\d{1,15}$/, 'whole number')
    .custom((value: string, helpers) => {
      const number = Number(value)
      if (number < min) return helpers.error('number.min', { limit: min })
      return number > max ? helpers.error('number.max', { limit: max }) : number
    })
    .messages({
      'string.pattern.name': '{{#label}} must be a whole number',
      'number.min': '{{#label}} must be at least {{#limit}}',
      'number.max': '{{#label}} must be at most {{#limit}}',
    })
    .meta({ openapi: { type: 'integer', minimum: min, maximum: max } })

/** `true` or `false` in a query, nothing else. */
export const queryBoolean = Joi.boolean().sensitive()

/** One or more of some words in a query, separated by commas, of which any will do: read as a list. */
export const queryWords = (words: readonly string[]) =>
  Joi.string()
    .max(500)
    .custom((text: string, helpers) => {
      const given = [...new Set(text.split(',').map(word => word.trim()))]
      return given.every(word => words.includes(word)) ? given : helpers.error('any.only', { valids: words })
    })
    .messages({ 'any.only': '{{#label}} must be one or more of {{#valids}}, separated by commas' })
    .description(`One or more of ${words.join(', ')}, separated by commas.`)

/** The query parameters of a list. */
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

/** What a list says of itself. */
export function pagination(total: number, { limit, offset }: Page): Pagination {
  return { total, limit, offset, has_more: offset + limit < total }
}
