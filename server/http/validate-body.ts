/** Validation of bodies that come in no request of their own, such as the items of a file. */
import type Joi from 'joi'
import { invalidInput } from './errors.ts'
import { inputErrorsOf, VALIDATION_OPTIONS } from './validation-messages.ts'

/** @throws 400 `VALIDATION_ERROR` naming the fields, as for the body of a request */
export function validateBody<Body>(schema: Joi.ObjectSchema, body: object): Body {
  const { value, error } = schema.validate(body, VALIDATION_OPTIONS)
  if (error) throw invalidInput(inputErrorsOf(error, schema))
  return value as Body
}
