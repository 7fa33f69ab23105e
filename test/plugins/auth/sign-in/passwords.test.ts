import { readFileSync } from 'node:fs'
import t from 'tap'
import {
  hashPassword,
  needsRehash,
  isPassword,
  assertStrongPassword,
} from '../../../../plugins/auth/sign-in/passwords.ts'

const listed = readFileSync('plugins/auth/sign-in/common-passwords.txt', 'utf8').split('\n').filter(Boolean)
const EMAIL = 'grace.hopper@example.com'

/** Why a password is refused; null when it is good. */
function reasonOf(
  password: string,
  { email = EMAIL, companyName = 'Difference Engines' } = {},
): string | null {
  try {
    assertStrongPassword(password, email, { companyName })
    return null
  } catch (error) {
    const { code, details } = (error as { data: { code: string; details: { reason: string } } }).data
    return code === 'WEAK_PASSWORD' ? details.reason : code
  }
}

t.test('the 10,000 commonest passwords are bundled and refused, in any case', async t => {
  t.ok(listed.length >= 10_000)
  t.equal(new Set(listed).size, listed.length, 'each once')
  t.strictSame(
    listed.slice(0, 5),
    ['password', '123456', '12345678', '1234', 'qwerty'],
    'the commonest first',
  )
  const accepted = listed.filter(word => reasonOf(word) === null || reasonOf(word.toUpperCase()) === null)
  t.strictSame(accepted, [])
  const long = listed.filter(word => [...word].length >= 12)
  t.ok(long.length >= 3_000, 'also of those that the length alone does not refuse')
  t.equal(reasonOf('Qwerty123456'), 'it is a common password')
})

t.test('12 to 128 characters are counted as code points, after NFC, and nothing is cut off', async t => {
  const letters = 'brisk walks under old elms '
  t.match(reasonOf('elevenchars'), /at least 12/)
  t.equal(reasonOf('twelve chars'), null)
  t.equal(reasonOf('🌊🐚🦀🐙🦑🐠🐡🦈🐳🐋🐬🦭'), null)
  t.match(reasonOf('🌊🐚🦀🐙🦑🐠🐡🦈🐳🐋🐬'), /at least 12/)
  t.match(reasonOf('e\u0301lan vital'), /at least 12/, 'a letter and its accent are one')
  t.equal(reasonOf(letters.repeat(5).slice(0, 128)), null)
  t.match(reasonOf(letters.repeat(5).slice(0, 129)), /at most 128/)
  t.equal(reasonOf('           .'), null, 'spaces count')
  const long = letters.repeat(5).slice(0, 128)
  const hash = await hashPassword(long)
  t.notOk(await isPassword(long.slice(0, -1), hash))
  t.notOk(await isPassword(`${long} `, hash))
  t.ok(await isPassword(long, hash))
})

t.test('one password in two encodings of its letters is one', async t => {
  const hash = await hashPassword('cafe\u0301 au lait ole\u0301')
  t.ok(await isPassword('caf\u00e9 au lait ol\u00e9', hash))
})

t.test(
  'it must not hold the email, the part before the @, nor the names of the company and the product',
  async t => {
    const refused: Record<string, RegExp> = {
      'my GRACE.hopper@example.com': /email address/,
      'Grace.Hopper 1906': /before the @/,
      'I love difference engines': /name of the company/,
      DifferenceEngines1822: /name of the company/,
      'my TideMark password': /this product/,
      'xy!xy!xy!xy!': /repeated/,
    }
    for (const [password, reason] of Object.entries(refused)) t.match(reasonOf(password), reason, password)
    t.equal(reasonOf('what a difference it makes'), null, 'a word of the name is not the name')
    t.equal(reasonOf('all that al wants', { email: 'al@example.com' }), null, 'nor is a name of two letters')
    t.equal(reasonOf('the ibm of our days', { companyName: 'IBM' }), null)
    t.match(reasonOf('zoe\u0308 is all I need', { email: 'zo\u00eb@example.com' }), /before the @/)
  },
)

t.test('hashes are Argon2id of today, and without one nothing fits', async t => {
  const hash = await hashPassword('a long walk at dawn')
  t.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.notOk(needsRehash(hash))
  t.ok(needsRehash(hash.replace('t=2', 't=1')))
  for (const none of [null, undefined]) t.notOk(await isPassword('a long walk at dawn', none))
})
