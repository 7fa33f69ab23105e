import Joi from 'joi'
import t from 'tap'
import { readSchema, type SettingsSchema } from '../../../plugins/console/client/forms/schema.ts'
import { describeConfig } from '../../../server/openapi/choices.ts'

t.test('a field is called by its name in words, or as its schema says', async t => {
  const config = Joi.object({
    ssl_ca: Joi.string(),
    memory_mb: Joi.number()
      .integer()
      .meta({ openapi: { title: 'Memory in MB' } }),
    pool: Joi.object({
      max: Joi.number()
        .integer()
        .meta({ openapi: { title: 'Most sessions' } }),
    }),
  })
  t.same(
    readSchema(describeConfig(config) as SettingsSchema).map(({ name, label }) => [name, label]),
    [
      ['ssl_ca', 'SSL CA'],
      ['memory_mb', 'Memory in MB'],
      ['pool.max', 'Most sessions'],
    ],
  )
})
