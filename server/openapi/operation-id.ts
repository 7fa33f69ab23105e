import type { RequestRoute } from '@hapi/hapi'
import { pascalCase } from './components.ts'

/** Verbs that end a path of POST: `POST /alerts/{id}/snooze` is `snoozeAlert`. */
const ACTIONS =
  /^(acknowledge|apply|cancel|check|discover|dismiss|login|logout|preview|redeliver|refresh|register|reset|resolve|snooze|test|unsubscribe|validate)$/

const VERBS: Partial<Record<string, string>> = {
  get: 'get',
  post: 'create',
  put: 'put',
  delete: 'delete',
}

/**
 * What the clients that are generated call the operation: `listAlerts`, `getAlertRule`, `updateUser`. A route whose path
 * says it worse has an `id` of its own.
 */
export function operationId({ method, path, settings }: RequestRoute): string {
  if (settings.id !== undefined) return settings.id
  const segments = path.replace(/^\/(api\/)?(v1\/|public\/)?(sdk\/)?/, '').split('/')
  const words = segments.filter(segment => segment === '{file}' || !segment.startsWith('{'))
  const last = words.at(-1) ?? ''
  if (method === 'post' && ACTIONS.test(last))
    return last + pascalCase(words.slice(0, -1).map(singular).join('-'))
  const isList = method === 'get' && segments.at(-1) === last && singular(last) !== last
  const verb = isList ? 'list' : (VERBS[method] ?? 'update')
  const nouns = words.map((word, index) => (isList && index === words.length - 1 ? word : singular(word)))
  return verb + pascalCase(nouns.join('-'))
}

const singular = (word: string) => word.replace(/(?<![suj])s$/, '').replace(/ie$/, 'y')
