import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import { Registry } from '../../../server/registry.ts'
import type { AlertKind } from '../api.ts'

const kindName = Joi.string().pattern(/^[a-z][a-z0-9_]*$/)

const shape = Joi.object({
  name: kindName.required(),
  aliases: Joi.array().items(kindName),
  label: Joi.string().required(),
  title: Joi.string(),
  isRechecked: Joi.valid(true),
  isRoutine: Joi.valid(true),
  ruleIdOf: Joi.function(),
  details: Joi.object().schema('object'),
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

/** The names of kinds by the words for them in requests: their names and aliases. */
export function kindWords(kinds: readonly AlertKind[]): ReadonlyMap<string, string> {
  return new Map(
    kinds.flatMap(({ name, aliases = [] }) => [name, ...aliases].map(word => [word, name] as const)),
  )
}

/** A kind as lists of kinds have it, for filters and rules. */
export const presentKind = ({ name, label, title }: AlertKind) => ({
  event_type: name,
  alert_type: label,
  label: title ?? name.replaceAll('_', ' '),
})

/** The alert that other destinations get when one is switched off. */
export const destinationDisabled: AlertKind = {
  name: 'destination_disabled',
  label: 'destination',
  title: 'destination switched off',
  details: Joi.object({
    destination_type: Joi.string(),
    failing_since: Joi.date().iso().description('Since when every attempt has failed.'),
  }),
}
