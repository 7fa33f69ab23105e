/** What the package promises of the client. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import * as client from '../../../../plugins/public/client/index.ts'
import { root } from '../../../helpers/sources.ts'
import { compileClient } from './compile.ts'

const MAX_BYTES = 11_000

t.test('its JavaScript is small: no file of it is left out', async t => {
  const files = [...compileClient()].filter(([name]) => name !== 'types.js')
  const bytes = files.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0)
  t.ok(bytes <= MAX_BYTES, `${bytes} bytes`)
  t.ok(bytes > MAX_BYTES / 2)
})

t.test('the package exports it, and what it exports is what is documented', async t => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  t.equal(exports['./client']['tidemark-source'], './plugins/public/client/index.ts')
  t.equal(exports['./client'].default, './dist/plugins/public/client/index.js')
  t.strictSame(Object.keys(client).sort(), [
    'ApiError',
    'ConnectionError',
    'TimeoutError',
    'WebhookError',
    'createClient',
    'verifyWebhook',
  ])
})
