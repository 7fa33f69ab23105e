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
