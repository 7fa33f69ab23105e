/** What is asked of dbt's artifacts: the body is read from bytes, so this describes it and Joi does not hold it. */

/** Other fields are sent too, and read over. */
const record = (description: string | undefined, properties: object) => ({
  type: 'object',
  ...(description !== undefined && { description }),
  properties,
  required: Object.keys(properties),
  additionalProperties: true,
})

/** When results were written: beside them where the command line reduced the artifact. */
const generated = {
  properties: { generated_at: { type: 'string', format: 'date-time' } },
  required: ['generated_at'],
}

export const dbtArtifacts = {
  manifest: record('The content of `target/manifest.json`, version 4 to 12 or 20 of its schema.', {
    metadata: record(undefined, {
      dbt_schema_version: { type: 'string', pattern: '/manifest/v([4-9]|1[0-2]|20)(\\.json)?$' },
    }),
  }),
  catalog: {
    type: ['object', 'null'],
    description:
      'The content of `target/catalog.json`: how the engine spells names, and the columns of tables.',
  },
  run_results: {
    ...record(
      'The content of `target/run_results.json`: results of tests and models. Those of commands that run nothing, as `args.which` names them, say nothing: compile, parse, generate, list.',
      { results: { type: 'array' } },
    ),
    type: ['object', 'null'],
    anyOf: [{ properties: { metadata: generated }, required: ['metadata'] }, generated],
  },
}
