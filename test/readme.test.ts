/** The first tour of the README, pasted as one block. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startReceiver } from './helpers/receiver.ts'
import { startServer } from './helpers/server.ts'
import { startSource } from './helpers/source.ts'
import { runBlock } from './plugins/public/docs-blocks.ts'

const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
const [, tour = ''] = /^## A first tour\n([\s\S]*?)^## /m.exec(readme) ?? []
const block = tour
  .split('\n')
  .filter(line => line.startsWith('    '))
  .map(line => line.slice(4))
  .join('\n')

t.test('the first tour works when it is pasted as one block, and its gates are green', async t => {
  const source = await startSource(t)
  for (const statement of [
    'create table customers (id int primary key)',
    `create table orders (id int primary key, customer_id int, email text, total numeric(10, 2),
       updated_at timestamptz not null)`,
    'insert into customers select generate_series(1, 20)',
    `insert into orders select n, 1 + n % 20, 'reader' || n || '@example.com', 10 + n % 7, now() - n * interval '1 hour'
       from generate_series(1, 500) n`,
  ])
    await source.query(statement)
  const receiver = await startReceiver(t)
  const { server, signUp } = await startServer(t)
  const { key } = await signUp()
  const { host, port, database, username, password } = source.config

  const here = [
    ['"host": "127.0.0.1", "port": 5432', `"host": "${host}", "port": ${port}`],
    ['"database": "shop", "username": "reader"', `"database": "${database}", "username": "${username}"`],
    ['shop.shop.public', `shop.${database}.public`],
    ['http://127.0.0.1:8000', server.info.uri],
    ['https://example.com/hook', `${receiver.url}/hook`],
  ] as const
  for (const [shown] of here) t.ok(block.includes(shown), `the tour shows ${shown}`)
  const text = here.reduce((so, [shown, place]) => so.replaceAll(shown, place), block)
  const folder = t.testdir({})
  const { answers, code, err } = await runBlock(
    `set -e\n${text.replace(/^KEY=.*$/m, '')}`,
    { KEY: key, PASSWORD: password },
    folder,
  )
  t.equal(code, 0, `it ends well: ${err}`)
  t.equal(answers.length, block.match(/\bcurl -s/g)?.length, 'every request was answered')
  for (const { status, body } of answers) t.ok(status < 300, `${status}: ${body.slice(0, 300)}`)

  const bodies = answers.map(({ body }) => JSON.parse(body))
  const assets = bodies.find(({ pagination }) => pagination)?.data as { name: string }[]
  t.strictSame(
    assets.map(({ name }) => name).sort(),
    ['customers', 'orders', 'shop'],
    'the list has the tables',
  )
  t.ok(
    answers.every(({ body }) => body.includes('\n  ')),
    'replies are indented',
  )
})
