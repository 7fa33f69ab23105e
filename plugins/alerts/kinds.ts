import Joi from 'joi'
import { Registry } from '../../server/registry.ts'
import { SYMPTOMS, type AlertKind } from './api.ts'
import { isDemo, type Alert } from './models.ts'

const kindName = Joi.string().pattern(/^[a-z][a-z0-9_]*$/)

const shape = Joi.object({
  name: kindName.required(),
  aliases: Joi.array().items(kindName),
  label: Joi.string().required(),
  title: Joi.string(),
  isRechecked: Joi.valid(true),
  isRoutine: Joi.valid(true),
  symptom: Joi.alternatives(Joi.valid(...SYMPTOMS), Joi.function()),
  ruleIdOf: Joi.function(),
  details: Joi.object().schema('object'),
  facts: Joi.function(),
  learnExpected: Joi.function(),
})

export type Kinds = Registry<AlertKind>

export function createKindRegistry(): Kinds {
  return new Registry<AlertKind>('alert kind', shape)
}

/** The kind of a stored alert. One whose extension is no longer loaded has only its name. */
export function kindOf(kinds: Kinds, name: string): AlertKind {
  return kinds.has(name) ? kinds.get(name) : { name, label: name }
}

/** The names of kinds by the words for them in requests: their names and aliases. */
export function kindWords(kinds: readonly AlertKind[]): ReadonlyMap<string, string> {
  return new Map(
    kinds.flatMap(({ name, aliases = [] }) => [name, ...aliases].map(word => [word, name] as const)),
  )
}

/** The names of the kinds that come with every run. */
export function routineNames(kinds: Kinds): string[] {
  return kinds.all().flatMap(({ name, isRoutine }) => (isRoutine ? name : []))
}

/** The fields of an alert that say whether incidents have it. */
export type GroupedFields = Pick<Alert, 'kind' | 'sourceId' | 'contextData'>

/** Whether an alert becomes a part of an incident: it is about data, and asks for an action. */
export function isGrouped(kinds: Kinds, alert: GroupedFields): boolean {
  return alert.sourceId !== null && kindOf(kinds, alert.kind).isRoutine !== true && !isDemo(alert)
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
