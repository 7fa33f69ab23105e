import t from 'tap'
import { inScope } from '../../../../plugins/catalog/discovery/patterns.ts'

const names = (pattern: string, name: string, schema = 'public', catalog = 'shop') =>
  inScope({ include: [pattern], exclude: [] }, { catalog, schema, name })

t.test('only * is more than a character of a name', async t => {
  for (const name of ['back\\slash', '!not', 'a?b', '[ab]', 'a{1}', 'x(', '%', '_', '^$', '日本', "it's"]) {
    t.ok(names(name, name), name)
    t.ok(names(`${name}*`, `${name} and more`), name)
    t.notOk(names(name, 'other'), name)
  }
  t.notOk(names('back\\slash', 'backslash'))
  t.ok(names('back\\*', 'back\\slash'), 'a backslash takes nothing from the *')
  t.ok(names('*', 'two\nlines'))
  t.ok(names('ORD*', 'orders'), 'case does not count')
})

t.test('each part is compared with its own', async t => {
  t.ok(names('public.orders', 'orders'))
  t.ok(names('shop.*.orders', 'orders'))
  t.notOk(names('public.orders', 'orders', 'other'))
  t.notOk(names('other.public.*', 'orders'))
  t.ok(names('"a.b"', 'a.b'))
  t.ok(names('"a.b".*', 'orders', 'a.b'))
  t.notOk(names('a*', 'b', 'a'), 'a table’s part says nothing of schemas')
})

t.test('what an exclude pattern names is out, whatever includes it', async t => {
  const orders = { catalog: 'shop', schema: 'public', name: 'orders' }
  t.ok(inScope({ include: [], exclude: [] }, orders))
  t.notOk(inScope({ include: [], exclude: ['ord*'] }, orders))
  t.notOk(inScope({ include: ['orders'], exclude: ['public.*'] }, orders))
  t.notOk(inScope({ include: ['items'], exclude: [] }, orders))
})

t.test('many wildcards that fit nothing are no riddle', async t => {
  t.notOk(names(`${'a*'.repeat(190)}b`, 'a'.repeat(1_000)))
})
