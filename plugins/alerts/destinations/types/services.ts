/** What services have in common in which an alert is something to work on: an incident, an alert of theirs, an issue. */
import Joi from 'joi'
import type { Payload } from '../destination.ts'

/** What has one thing there: an incident with all of its alerts, else an alert. */
export const subjectIdOf = ({ alert, incident }: Payload): string => incident?.id ?? alert.id

/** A key or token that is sent as a header or in a body. @param most characters */
export const printableSecret = (most: number): Joi.StringSchema =>
  Joi.string()
    .pattern(/^[\x21-\x7e]+$/)
    .max(most)
    .messages({ 'string.pattern.base': '{{#label}} must be printable ASCII without spaces' })
    .meta({ secret: true })
    .required()
