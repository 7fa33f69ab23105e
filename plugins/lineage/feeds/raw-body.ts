import Joi from 'joi'

/** A body that the route leaves as bytes and reads itself; the schema describes it. */
export const rawBody = (openapi: object, example: object) =>
  Joi.object().required().meta({ openapi }).example(example)

/** An object in the terms of JSON schema. */
export const describeObject = (description: string, properties?: object, required?: string[]) => ({
  type: 'object',
  description,
  ...(properties && { properties }),
  ...(required && { required }),
})
