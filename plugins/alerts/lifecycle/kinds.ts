import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import { Registry } from '../../../server/registry.ts'
import type { AlertKind } from '../api.ts'

const shape = Joi.object({
  name: Joi.string()
    .pattern(/^[a-z][a-z0-9_]*$/)
    .required(),
  label: Joi.string().required(),
  isRechecked: Joi.valid(true),
  isRoutine: Joi.valid(true),
  facts: Joi.function(),
  learnExpected: Joi.function(),
})

export function createKindRegistry(): Registry<AlertKind> {
  return new Registry<AlertKind>('alert kind', shape)
}

/** The kind of a stored alert. One whose extension is no longer loaded has only its name. */
export function kindOf(server: Server, name: string): AlertKind {
  const { kinds } = server.plugins.alerts
  return kinds.has(name) ? kinds.get(name) : { name, label: name }
}

/** The alert that other destinations get when one is switched off. */
export const destinationDisabled: AlertKind = { name: 'destination_disabled', label: 'destination' }
