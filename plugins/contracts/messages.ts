import type { ErrorObject } from 'ajv'
import { ID } from './schema/parts.ts'
import { REFERENCE } from './schema/properties.ts'
import { OPERATORS } from './schema/quality.ts'
import { SFTP } from './schema/servers.ts'

/** The path of a failure, including the name of an unexpected field. */
export function failurePath({ instancePath, keyword, params }: ErrorObject): string[] {
  const path = instancePath
    .split('/')
    .slice(1)
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  return keyword === 'additionalProperties'
    ? [...path, (params as { additionalProperty: string }).additionalProperty]
    : path
}

export function describeFailure({
  keyword,
  params,
  data,
  message: fallback = 'expected something else',
}: ErrorObject): string {
  const details = params as Record<string, unknown>
  switch (keyword) {
    case 'type':
      return `expected ${describeTypes(details.type)}${describeActual(data, details.type)}`
    case 'enum':
      return `expected one of ${(details.allowedValues as string[]).join(', ')}`
    case 'required':
      return `expected the field ${String(details.missingProperty)}, which is missing`
    case 'additionalProperties':
      return 'expected no field of this name: it is not known here'
    case 'false schema':
      return 'expected no such field here: it belongs to another type of this part'
    case 'oneOf':
      return `expected exactly one of ${OPERATORS.join(', ')}`
    case 'format':
      return `expected a ${FORMAT_NAMES[String(details.format)] ?? String(details.format)}`
    case 'pattern':
      return `expected ${PATTERN_NAMES[String(details.pattern)] ?? `a text like ${String(details.pattern)}`}`
    case 'uniqueItems':
      return 'expected items that differ from each other'
    case 'maxProperties':
      return 'expected no options, or a logicalType that they are of'
    default:
      return COUNT_MESSAGES[keyword]?.(Number(details.limit)) ?? fallback
  }
}

const COUNT_MESSAGES: Record<string, (limit: number) => string> = {
  minItems: limit => `expected at least ${limit} item${limit === 1 ? '' : 's'}`,
  maxItems: limit => `expected at most ${limit} items`,
  minimum: limit => `expected ${limit} or more`,
  exclusiveMinimum: limit => `expected more than ${limit}`,
}

const FORMAT_NAMES: Record<string, string> = {
  date: 'date such as 2024-02-29',
  'date-time': 'time such as 2024-02-29T12:30:00Z',
  uri: 'URI such as https://example.com/data',
}

const PATTERN_NAMES: Record<string, string> = {
  [ID]: 'letters, digits, hyphens and underscores only',
  [REFERENCE]: 'a property, such as orders.customer_id or schema/orders/properties/customer_id',
  [SFTP]: 'an address that begins with sftp://',
}

/** Describes the actual value if that helps to correct it. */
function describeActual(data: unknown, types: unknown): string {
  if (data === null) return ', and nothing is here'
  const isText = [types].flat().includes('string')
  return isText && ['number', 'boolean'].includes(typeof data)
    ? `, not a ${typeof data === 'number' ? 'number' : 'yes or no'}: put it in quotes`
    : ''
}

const TYPE_NAMES: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'nothing',
}

function describeTypes(types: unknown): string {
  const names = [types].flat().map(type => TYPE_NAMES[String(type)] ?? String(type))
  return names.join(', or ')
}
