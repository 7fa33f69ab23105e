import type { Edition } from './editions.ts'
import { anything, each, fields, hasValue, list, number, object, oneOf, part, text, when } from './parts.ts'
import type { SchemaFields, Schema } from './parts.ts'

const pair: Schema = { type: 'array', items: number, minItems: 2, maxItems: 2, uniqueItems: true }

/** What a measured value is compared with. */
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
/** The names of the operators, of which a rule has one. */
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

/** What data has to be like, in words, by a metric of the library, by SQL, or in the words of another tool. */
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
  // A metric makes a rule of the library even where the type says otherwise or nothing.
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

/** Before 3.1 the library had rules, any number of operators could stand together, and other fields did no harm. */
function lenient(edition: Edition, common: SchemaFields): Schema {
  const ofKinds = each([...OPERATORS, 'rule', 'query', 'engine', 'implementation'], anything)
  return {
    ...edition.part({ ...common, ...ofKinds }),
    allOf: [
      // What has no type is a rule of the library.
      when(fields({ type: { const: 'library' } }), fields({ rule: text, ...operators }, ['rule'])),
      when(hasValue('type', 'sql'), fields({ query: text }, ['query'])),
      when(
        hasValue('type', 'custom'),
        fields({ engine: text, implementation }, ['engine', 'implementation']),
      ),
    ],
  }
}
