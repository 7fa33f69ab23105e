import t from 'tap'
import { startMailServer } from '../../../helpers/mail-server.ts'
import { startServer } from '../../../helpers/server.ts'

const BASE_URL = 'https://watch.example.com'
const mailServer = await startMailServer(t)
const app = await startServer(t, { settings: { SMTP_URL: mailServer.url, BASE_URL } })

t.beforeEach(() => {
  mailServer.mails.length = 0
  mailServer.refuse = () => null
})

async function world(name = 'Engines') {
  await app.query('delete from rate_windows')
  const tenant = await app.signUp(name)
  const invite = (email: string) =>
    app.ask('POST', '/api/v1/invitations', { email, role: 'member' }, tenant.token)
  return { ...tenant, invite }
}
const lookUp = async (token: string) => {
  await app.query('delete from rate_windows')
  return app.ask('POST', '/api/v1/auth/invitation', { invitation_token: token })
}

t.test('an invited person gets a mail with the link, and the caller the link too', async t => {
  const { invite, email } = await world()
  const { status, body } = await invite('grace@example.com')
  t.equal(status, 201)
  t.match(body, { url: `${BASE_URL}/invitation?token=${body.token}`, is_mailed: true, mail_problem: null })
  const [mail] = await mailServer.received(1)
  t.strictSame(mail?.to, ['grace@example.com'])
  t.equal(mail?.headers.subject, `${email} invited you to Engines on Tidemark`)
  t.match(mail?.text, body.url)
  t.match(mail?.html, `href="${body.url}"`)
  t.match(mail?.text, 'within 7 days')
})

t.test('names add neither headers nor markup, and no mail is all name', async t => {
  const { invite, companyId, email } = await world()
  const hostile = `<b>x</b>\r\nBcc: eve@example.com\r\n\r\nhello \u202e ${'y'.repeat(150)}`
  await app.query('update companies set name = $1 where company_id = $2', [hostile, companyId])
  await app.query('update users set full_name = $1 where email = $2', [hostile, email])
  t.equal((await invite('grace@example.com')).body.is_mailed, true)
  const [mail] = await mailServer.received(1)
  t.strictSame(mail?.to, ['grace@example.com'])
  t.equal(mail?.headers.bcc, undefined)
  t.notMatch(mail?.raw, /^Bcc:/im)
  t.notMatch(mail?.html, '<b>x</b>')
  t.notMatch(mail?.headers.subject, /\u202e|y{61}/)
})

t.test('a mail that is not taken leaves the link, with the reason', async t => {
  const { invite } = await world()
  mailServer.refuse = () => ({ code: 550, text: 'no such mailbox' })
  const { status, body } = await invite('grace@example.com')
  t.equal(status, 201)
  t.match(body, { token: /./, is_mailed: false, mail_problem: /no such mailbox/ })
})

t.test('inviting one address again and again mails it three times an hour', async t => {
  const { invite } = await world()
  for (const expected of [true, true, true, false])
    t.equal((await invite('grace@example.com')).body.is_mailed, expected)
  t.match((await invite('grace@example.com')).body.mail_problem, /3 to one address/)
  t.equal((await invite('other@example.com')).body.is_mailed, true)
})

t.test('without a mail server the link is shown, as before', async t => {
  const bare = await startServer(t)
  const { token } = await bare.signUp()
  const { status, body } = await bare.ask(
    ...(['POST', '/api/v1/invitations', { email: 'grace@example.com', role: 'member' }, token] as const),
  )
  t.equal(status, 201)
  t.match(body, { url: /invitation\?token=/, is_mailed: false, mail_problem: /SMTP_URL/ })
})

t.test('the holder of a token learns what the invited person needs, and nothing else', async t => {
  const { invite, email } = await world()
  const { body: invited } = await invite('grace@example.com')
  const { status, body, headers } = await lookUp(invited.token)
  t.equal(status, 200)
  t.strictSame(body, {
    email: 'grace@example.com',
    company_name: 'Engines',
    invited_by: email,
    expires_at: invited.expires_at,
  })
  t.equal(headers['cache-control'], 'no-store')
  t.equal((await lookUp(invited.token)).status, 200, 'it is not used up')
})

t.test('a token that is made up, used, expired or revoked gets one reply, which says what to do', async t => {
  const { invite, token } = await world()
  const { body: used } = await invite('used@example.com')
  await app.ask('POST', '/api/v1/auth/register', {
    ...{ email: 'used@example.com', password: 'a long walk at dawn', invitation_token: used.token },
  })
  const { body: expired } = await invite('expired@example.com')
  await app.query(`update invitations set expires_at = now() where id = $1`, [expired.id])
  const { body: revoked } = await invite('revoked@example.com')
  await app.ask('DELETE', `/api/v1/invitations/${revoked.id}`, undefined, token)
  const made = { token: 'made up' }
  const replies = []
  for (const each of [made, used, expired, revoked]) replies.push(await lookUp(each.token))
  for (const { status, body } of replies) {
    t.match([status, body.error.code], [400, 'INVALID_INVITATION'])
    t.match(body.error.message, /ask an admin of the company for a new one/)
    t.strictSame(body, replies[0]?.body)
  }
})
