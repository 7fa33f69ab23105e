import Joi from 'joi'

/** All types but JSON are YAML texts. */
export const CONTENT_TYPES = [
  'application/yaml',
  'application/x-yaml',
  'text/yaml',
  'text/plain',
  'application/json',
] as const

const yaml = `apiVersion: v3.1.0
kind: DataContract
id: orders
version: 1.0.0
status: active
`

/** Any value: JSON other than an object is an invalid contract. */
export const contractBody = Joi.alternatives(
  Joi.object()
    .unknown()
    .description('A contract, or {"contract": "<its YAML>"}')
    .example({ contract: yaml })
    .example({
      apiVersion: 'v3.1.0',
      kind: 'DataContract',
      id: 'orders',
      version: '1.0.0',
      status: 'active',
    }),
  Joi.string().description('A contract in YAML, at most 256 KiB').example(yaml),
  Joi.any().description('Other JSON, which is an invalid contract'),
).required()

/** A finding in replies. */
export const finding = Joi.object({
  path: Joi.string().allow('').required().description('A JSON Pointer to the part of the contract'),
  line: Joi.number()
    .integer()
    .min(1)
    .allow(null)
    .required()
    .description('The line in the text; null for a contract that came as JSON'),
  message: Joi.string().required().description('What was expected'),
  keyword: Joi.string()
    .required()
    .description('The rule: a keyword of JSON Schema, or one of ours for what a schema cannot express'),
})
  .label('ContractFinding')
  .example({
    path: '/schema/0/properties/1',
    line: 12,
    message: 'expected the field name, which is missing',
    keyword: 'required',
  })

export const verdictReply = Joi.object({
  success: Joi.boolean().valid(true).required(),
  data: Joi.object({
    valid: Joi.boolean().required(),
    api_version: Joi.string().allow(null, '').required().description('The apiVersion of the contract'),
    errors: Joi.array().items(finding).required().description('The first 200'),
    warnings: Joi.array()
      .items(finding)
      .required()
      .description('Accepted, but worth a look: unknown fields, dangling references'),
  }).required(),
  message: Joi.string().required(),
  error: Joi.string().allow('').required(),
  meta: Joi.object({
    errors_found: Joi.number().integer().min(0).required(),
    warnings_found: Joi.number().integer().min(0).required(),
  }).required(),
})
  .label('ContractVerdict')
  .example({
    success: true,
    data: { valid: true, api_version: 'v3.1.0', errors: [], warnings: [] },
    message: 'The contract is valid',
    error: '',
    meta: { errors_found: 0, warnings_found: 0 },
  })

export const errorReply = Joi.object({
  error: Joi.object({
    code: Joi.string().required(),
    message: Joi.string().required(),
    details: Joi.object().unknown().required(),
  }).required(),
})
