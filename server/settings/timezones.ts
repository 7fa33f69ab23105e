import Joi from 'joi'
import { IANAZone } from 'luxon'

/** A time zone by its IANA name. An offset such as +02:00 knows no summer time, and is no zone of the IANA's. */
export const TIMEZONE = Joi.string()
  .max(64)
  .meta({ openapi: { pattern: '^[A-Za-z][A-Za-z0-9_+/-]*$' } })
  .example('Europe/Berlin')
  .custom((value: string, helpers) =>
    /^[a-z]/i.test(value) && IANAZone.isValidZone(value) ? value : helpers.error('timezone.unknown'),
  )
  .messages({ 'timezone.unknown': '{{#label}} must be an IANA time zone such as Europe/Berlin' })
