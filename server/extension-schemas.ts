import Joi from 'joi'
import { COLUMN_KINDS } from '../connectors/catalog.ts'
import type { Capability } from '../connectors/connector.ts'
import { defineDialect } from '../connectors/dialect.ts'

/** A record, so that one which is missing does not compile. */
const CAPABILITIES: Record<Capability, true> = {
  constraints: true,
  comments: true,
  lastModified: true,
  estimates: true,
  regex: true,
  percentile: true,
  groupedPercentile: true,
  dateParsing: true,
  readOnly: true,
  cancel: true,
  renames: true,
  costEstimates: true,
  dryRuns: true,
  byteLimit: true,
  partitions: true,
}
/** Those that may be claimed of some kinds of tables only. */
const TABLE_CAPABILITIES: readonly Capability[] = ['lastModified', 'estimates', 'partitions']
const capability = Joi.valid(...Object.keys(CAPABILITIES))

/** What is missing is named all at once: a dialect that was written by hand lacks nearly everything. */
const dialect = Joi.object().custom((value: Record<string, unknown>, helpers) => {
  const missing = Object.keys(defineDialect({})).filter(part => value[part] === undefined)
  return missing.length === 0
    ? value
    : helpers.message({
        custom: `{{#label}} lacks ${missing.join(', ')}: make it with defineDialect of tidemark/connector`,
      })
})

/** A `connection_config` without room for options of a driver, which could lead anywhere. */
const connectionConfig = Joi.object()
  .schema('object')
  .custom((value: Joi.ObjectSchema, helpers) => {
    const { unknown } = (value.describe().flags ?? {}) as { unknown?: boolean }
    return unknown === true
      ? helpers.message({
          custom:
            '{{#label}} takes unknown keys: leave out .unknown(), and name each key that the driver gets',
        })
      : value
  })

/** What `server.connectors` takes. The conformance kit tests what a shape cannot show. */
export const connectorShape = Joi.object({
  name: Joi.string()
    .pattern(/^[a-z][a-z0-9_]*$/)
    .required()
    .messages({
      'string.pattern.base': '{{#label}} must be small letters, digits and _, and start with a letter',
    }),
  label: Joi.string().required(),
  config: connectionConfig.required(),
  driver: Joi.object({ package: Joi.string().required(), version: Joi.string().required() }),
  dialect: dialect.required(),
  capabilities: Joi.object()
    .pattern(Joi.valid(...TABLE_CAPABILITIES), Joi.alternatives(Joi.valid(true), Joi.function()))
    .pattern(capability, Joi.valid(true))
    .unknown(false)
    .required()
    .messages({
      'any.only': '{{#label}} must be true; a capability that the engine lacks is left out',
      'alternatives.types':
        '{{#label}} must be true, or a function of a table; a capability that the engine lacks is left out',
      'object.unknown': `{{#label}} is no capability; there are ${Object.keys(CAPABILITIES).join(', ')}`,
    }),
  isAlwaysEncrypted: Joi.valid(true),
  connect: Joi.function().required(),
  test: Joi.function().required(),
})
  .required()
  .label('a connector')

/** What `server.checks` takes: one door of `valid`, `measure` and `measures`, that fits the family. */
export const checkShape = Joi.object({
  name: Joi.string()
    .pattern(/^[A-Za-z][A-Za-z0-9_]*$/)
    .required()
    .messages({ 'string.pattern.base': '{{#label}} must be letters, digits and _, and start with a letter' }),
  description: Joi.string().required(),
  family: Joi.string().valid('rule', 'metric').required(),
  column: Joi.string().valid('required', 'optional', 'ignored').required(),
  config: Joi.object().schema('object').required(),
  kinds: Joi.array().items(Joi.valid(...COLUMN_KINDS)),
  comparesValues: Joi.valid(true),
  readsText: Joi.valid(true),
  needs: Joi.array().items(capability),
  engineValidations: Joi.function(),
  configWarnings: Joi.function(),
  ignoresNullPolicy: Joi.valid(true),
  userSql: Joi.valid(true, 'aggregate'),
  validateGrouping: Joi.function(),
  shownColumns: Joi.function(),
  ownStatement: Joi.valid(true),
  revealsValue: Joi.valid('always', 'grouped'),
  domain: Joi.valid('rows', 'count', 'percent', 'continuous')
    .when('family', { is: 'rule', then: Joi.forbidden() })
    .messages({ 'any.unknown': '{{#label}} is for metrics: it says what their values can be' }),
  rollup: Joi.object().pattern(
    Joi.string(),
    Joi.valid('count', 'sum', 'min', 'max', 'mean', 'standard_deviation', 'distinct', 'repeated'),
  ),
  mergesParts: Joi.valid(true),
  valid: Joi.function()
    .when('family', { is: 'metric', then: Joi.forbidden() })
    .messages({ 'any.unknown': '{{#label}} is for rules: a metric has measure' }),
  isStrict: Joi.function().when('valid', { not: Joi.exist(), then: Joi.forbidden() }),
  measure: Joi.function()
    .when('family', { is: 'rule', then: Joi.forbidden() })
    .messages({ 'any.unknown': '{{#label}} is for metrics: a rule has valid' }),
  percentileOf: Joi.function().when('measure', { not: Joi.exist(), then: Joi.forbidden() }),
  measures: Joi.function(),
  readMeasures: Joi.function().when('measures', { is: Joi.exist(), then: Joi.required() }),
  samples: Joi.function().when('measures', {
    is: Joi.exist(),
    then: Joi.when('family', { is: 'rule', then: Joi.required() }),
  }),
})
  .xor('valid', 'measure', 'measures')
  .required()
  .messages({
    'object.missing':
      '{{#label}} says what to measure: by valid (a rule), measure (a metric), or measures and readMeasures',
    'object.xor': '{{#label}} has one of valid, measure and measures',
  })
  .label('a check type')
