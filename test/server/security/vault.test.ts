import { randomBytes } from 'node:crypto'
import t from 'tap'
import { makeVault } from '../../../server/security/vault.ts'

const newKey = () => randomBytes(32).toString('base64')

t.test('what is sealed opens at its own place only', async t => {
  const vault = makeVault(newKey())
  const sealed = vault.seal('pässword', 'source:a:1')
  t.equal(vault.open(sealed, 'source:a:1'), 'pässword')
  t.notMatch(sealed, 'pässword')
  t.not(vault.seal('pässword', 'source:a:1'), sealed, 'never twice the same')
  t.throws(() => vault.open(sealed, 'source:a:2'), 'moved to another row')
  t.throws(() => vault.open(sealed, 'source:b:1'), 'moved to another company')
})

t.test('what was changed does not open', async t => {
  const vault = makeVault(newKey())
  const sealed = vault.seal('secret', 'here')
  const [version, id, body = ''] = sealed.split('.')
  const bytes = Buffer.from(body, 'base64')
  for (let index = 0; index < bytes.length; index++) {
    const changed = Buffer.from(bytes)
    changed[index] = (changed[index] ?? 0) ^ 1
    t.throws(() => vault.open([version, id, changed.toString('base64')].join('.'), 'here'))
  }
  for (const text of ['', 'secret', 'v1', `v2.${id}.${body}`, `v1.${id}.`])
    t.throws(() => vault.open(text, 'here'))
})

t.test('an older key still opens, the newest one seals', async t => {
  const [older, newer] = [newKey(), newKey()]
  const sealed = makeVault(older).seal('secret', 'here')
  const both = makeVault(`${newer}, ${older}`)
  t.equal(both.open(sealed, 'here'), 'secret')
  t.equal(makeVault(newer).open(both.seal('secret', 'here'), 'here'), 'secret')
  t.throws(() => makeVault(newer).open(sealed, 'here'), { message: /not in SECRET_KEY: add it/ })
  t.strictSame(both.keys, [Buffer.from(newer, 'base64'), Buffer.from(older, 'base64')])
})

t.test('keys and marks differ by purpose and by key', async t => {
  const [one, two] = [makeVault(newKey()), makeVault(newKey())]
  t.strictSame(one.derive('a'), one.derive('a'))
  t.equal(one.derive('a').length, 32)
  t.notSame(one.derive('a'), one.derive('b'))
  t.notSame(one.derive('a'), two.derive('a'))
  t.match(one.hmac('a', 'text'), /^[0-9a-f]{64}$/)
  t.equal(one.hmac('a', 'text'), one.hmac('a', 'text'))
  t.not(one.hmac('a', 'text'), one.hmac('b', 'text'))
})

t.test('a key of another length is refused', async t => {
  for (const bad of ['', 'short', randomBytes(16).toString('base64'), `${newKey()},x`]) {
    t.throws(() => makeVault(bad), { message: /32 bytes in base64/ })
  }
})
