/** What whoever starts a run is told of it: 202, and where to look. */
import Joi from 'joi'
import { held, inData, record } from './envelopes.ts'

/** How a run stands. */
export const runStatus = Joi.valid('pending', 'running', 'completed', 'failed', 'cancelled')

/** A run that was asked for, and that job `id` does. */
interface Run {
  id: string
  status: string
}

/** The job of a run, and where it tells how it goes. @param what runs, as in "Discovery is pending" */
export function presentStarted(what: string, { id, status }: Run) {
  return {
    job_id: id,
    status,
    message: `${what} is ${status}: GET /api/v1/sdk/jobs/${id} tells how it goes`,
  }
}

/** Its schema, with more fields where there are any. */
export function startedRun(
  what: string,
  id: string,
  more: Record<string, Joi.Schema> = {},
  example: object = {},
): Joi.Schema {
  return inData(
    record(
      { job_id: held.id, status: runStatus, message: Joi.string(), ...more },
      { ...presentStarted(what, { id, status: 'pending' }), ...example },
    ),
  )
}
