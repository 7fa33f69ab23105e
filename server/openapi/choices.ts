import type Joi from 'joi'
import { asComponent, pascalCase } from './components.ts'
import { describeSchema, jsonSchema, type JsonSchema } from './json-schema.ts'

/**
 * The schema of a configuration that one item of a registry takes, as a component: `PostgresqlConnection`. A schema of an
 * extension may be made with another version of Joi, which describes nothing: such a one is any object.
 * @param name what the component is called
 * @param said which type it is for
 */
export function configSchema(name: string, config: Joi.Schema, said: string): JsonSchema {
  return asComponent('schemas', pascalCase(name.replaceAll(/([a-z])([A-Z])/g, '$1-$2')), {
    ...describeConfig(config),
    description: [said, ...otherNames(config)].join(' '),
  })
}

/** The JSON Schema of a configuration; any object for one that was made with another version of Joi. */
export function describeConfig(config: Joi.Schema): JsonSchema {
  try {
    const described = jsonSchema(config)
    // A field with another name is taken under both.
    if (otherNames(config).length === 0) return described
    const { additionalProperties: _closed, ...open } = described
    return open
  } catch {
    return { type: 'object' }
  }
}

function otherNames(config: Joi.Schema): string[] {
  const { renames = [] } = describeSchema(config)
  return renames.map(({ from, to }) => `\`${from}\` is another name for \`${to}\`.`)
}
