import { randomUUID } from 'node:crypto'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import t from 'tap'
import { generateSigningSecret, signBody } from '../../../../plugins/alerts/destinations/signature.ts'
import { testPayload } from '../../../../plugins/alerts/messages/message.ts'
import { openApi } from '../../../../server/openapi/openapi.ts'
import { withoutReferences } from '../../../helpers/references.ts'
import { startServer } from '../../../helpers/server.ts'

interface Webhook {
  post: {
    parameters: { name: string }[]
    requestBody: { content: Record<string, { schema: { examples: object[] } }> }
  }
}

const { server } = await startServer(t)
const webhooks = withoutReferences(openApi(server, '')).webhooks as Record<string, Webhook>

t.test('each message that a webhook gets is described, with the headers that it carries', async t => {
  t.strictSame(Object.keys(webhooks), ['alert.triggered', 'alert.resolved', 'alert.test'])
  const id = randomUUID()
  const payload = testPayload(id, 'On call', 'https://tidemark.test')
  const sent = Object.keys(signBody(JSON.stringify(payload), id, [generateSigningSecret()], new Date()))
  const ajv = new Ajv2020({ strict: false })
  ;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)
  for (const [name, { post }] of Object.entries(webhooks)) {
    const described = post.parameters.map(parameter => parameter.name.toLowerCase())
    for (const header of sent) t.ok(described.includes(header), `${name} names ${header}`)
    const { schema } = post.requestBody.content['application/json']!
    const validate = ajv.compile(schema)
    for (const message of [payload, ...schema.examples])
      t.ok(validate(message), `${name}: ${ajv.errorsText(validate.errors)}`)
    t.notOk(validate({ ...payload, links: {} }), `${name} says what is always there`)
  }
})
