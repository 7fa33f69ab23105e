import type { Edition } from './editions.ts'
import { anything, each, fields, hasValue, list, number, object, oneOf, part, text, when } from './parts.ts'
import type { SchemaFields, Schema } from './parts.ts'

const pair: Schema = { type: 'array', items: number, minItems: 2, maxItems: 2, uniqueItems: true }

const operators: SchemaFields = {
  mustBe: anything,
  mustNotBe: anything,
  mustBeGreaterThan: number,
  mustBeGreaterOrEqualTo: number,
  mustBeLessThan: number,
  mustBeLessOrEqualTo: number,
  mustBeBetween: pair,
  mustNotBeBetween: pair,
}
/** A rule has exactly one of these. */
export const OPERATORS = Object.keys(operators)
const oneOperator: Schema = { oneOf: OPERATORS.map(name => ({ required: [name] })) }

const implementation: Schema = { type: ['string', 'object'] }
const DIMENSIONS = [
  'accuracy',
  'completeness',
  'conformity',
  'consistency',
  'coverage',
  'timeliness',
  'uniqueness',
]

/** A quality rule: text, a metric of the library, SQL, or the configuration of another tool. */
export function quality(edition: Edition): Schema {
  const common: SchemaFields = {
    ...edition.id,
    ...each(
      ['businessImpact', 'description', 'method', 'name', 'schedule', 'scheduler', 'severity', 'unit'],
      text,
    ),
    authoritativeDefinitions: part('authoritativeDefinitions'),
    customProperties: part('customProperties'),
    dimension: oneOf(...DIMENSIONS),
    tags: list(text),
    type: oneOf('text', 'library', 'sql', 'custom'),
  }
  return edition.isStrict ? strict(edition, common) : lenient(edition, common)
}

function strict(edition: Edition, common: SchemaFields): Schema {
  const metric = oneOf('nullValues', 'missingValues', 'invalidValues', 'duplicateValues', 'rowCount')
  // A metric makes a rule of the library, whatever the type.
  const isLibrary = { anyOf: [hasValue('type', 'library'), fields({ metric: text }, ['metric'])] }
  const known = {
    ...common,
    metric,
    rule: text,
    arguments: object,
    ...operators,
    query: text,
    engine: text,
    implementation,
  }
  return {
    ...edition.part(known),
    allOf: [
      when(isLibrary, { required: ['metric'] }, fields(each(['metric', 'rule', 'arguments'], false))),
      when(hasValue('type', 'sql'), { required: ['query'] }, fields({ query: false })),
      when(
        hasValue('type', 'custom'),
        { required: ['engine', 'implementation'] },
        fields(each(['engine', 'implementation'], false)),
      ),
      when({ anyOf: [isLibrary, hasValue('type', 'sql')] }, oneOperator, fields(each(OPERATORS, false))),
    ],
  }
}

/** Before 3.1, the library had rules, operators could be combined, and other fields were allowed. */
function lenient(edition: Edition, common: SchemaFields): Schema {
  const ofKinds = each([...OPERATORS, 'rule', 'query', 'engine', 'implementation'], anything)
  return {
    ...edition.part({ ...common, ...ofKinds }),
    allOf: [
      // The default type is the library.
      when(fields({ type: { const: 'library' } }), fields({ rule: text, ...operators }, ['rule'])),
      when(hasValue('type', 'sql'), fields({ query: text }, ['query'])),
      when(
        hasValue('type', 'custom'),
        fields({ engine: text, implementation }, ['engine', 'implementation']),
      ),
    ],
  }
}
