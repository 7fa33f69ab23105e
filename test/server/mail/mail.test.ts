import { createServer, type AddressInfo } from 'node:net'
import t from 'tap'
import { readConfig, type ConfigError } from '../../../server/settings/config.ts'
import { openMail, type Letter } from '../../../server/mail/mail.ts'
import { MAIL_PASSWORD, startMailServer, type MailServer } from '../../helpers/mail-server.ts'

const signal = new AbortController().signal

function letter(to: string, more: Partial<Letter> = {}): Letter {
  return {
    to,
    subject: 'Critical: total is positive – ∑ > 0',
    text: 'Three of a hundred.\n',
    html: '<p>Three of a hundred, à la carte.</p>',
    messageId: `<1.${to.split('@')[0]}@example.com>`,
    ...more,
  }
}

/** The mail server of settings, which is let go of when the test ends. */
function open(t: { teardown(down: () => unknown): unknown }, url: string) {
  const mail = openMail(readConfig({ SMTP_URL: url, SMTP_FROM: 'Alerts at Acme <alerts@example.com>' }))!
  t.teardown(() => mail.close())
  return mail
}

const THREE = ['a@example.com', 'b@example.com', 'c@example.com']

for (const tls of ['implicit', 'starttls', 'none'] as const) {
  t.test(`mail is handed over, TLS ${tls}`, async t => {
    const server = await startMailServer(t, { tls })
    const posted = await open(t, server.url).send(
      THREE.map(to => letter(to)),
      { signal },
    )
    t.strictSame(
      posted.map(({ to, isTaken, code, problem }) => ({ to, isTaken, code, problem })),
      THREE.map(to => ({ to, isTaken: true, code: 250, problem: null })),
    )
    t.strictSame(
      server.mails
        .map(({ to }) => to)
        .flat()
        .sort(),
      THREE,
    )
    const first = server.mails.find(({ to }) => to[0] === 'a@example.com')
    t.match(first, {
      from: 'alerts@example.com',
      to: ['a@example.com'],
      headers: {
        from: 'Alerts at Acme <alerts@example.com>',
        to: 'a@example.com',
        subject: 'Critical: total is positive – ∑ > 0',
        'message-id': '<1.a@example.com>',
        'auto-submitted': 'auto-generated',
      },
      text: /^Three of a hundred\.\s*$/,
      html: /à la carte/,
    })
    t.ok(server.signIns <= 5, 'letters share connections')
  })
}

t.test('without a mail server in the settings there is none, and no letter is no work', async t => {
  t.equal(openMail(readConfig({})), null)
  t.strictSame(await open(t, 'smtp://localhost:1').send([], { signal }), [])
})

t.test('a server that offers no TLS gets neither password nor mail', async t => {
  const server = await startMailServer(t, { tls: 'none' })
  const url = `smtp://tidemark:${encodeURIComponent(MAIL_PASSWORD)}@localhost:${server.port}`
  const posted = await open(t, url).send([letter('a@example.com')], { signal })
  t.match(posted, [{ isTaken: false, code: null, errorClass: 'tls', problem: /No safe connection/ }])
  t.equal(server.signIns + server.begun, 0)
})

for (const certificate of ['self-signed', 'expired', 'wrong-host', 'unknown-authority'] as const) {
  for (const tls of ['implicit', 'starttls'] as const) {
    t.test(`a certificate that is not valid (${certificate}, ${tls}) gets neither`, async t => {
      const server = await startMailServer(t, { tls, certificate })
      const posted = await open(t, server.url).send([letter('a@example.com')], { signal })
      t.match(posted, [{ isTaken: false, errorClass: 'tls' }])
      t.equal(server.signIns + server.begun, 0)
    })
  }
}

t.test('a wrong password is tried once, and the reply of the server to it is not passed on', async t => {
  const server = await startMailServer(t)
  const url = server.url.replace(encodeURIComponent(MAIL_PASSWORD), 'canary')
  const posted = await open(t, url).send(
    THREE.map(to => letter(to)),
    { signal },
  )
  t.strictSame(
    posted.map(({ to }) => to),
    THREE,
  )
  for (const one of posted) {
    t.match(one, {
      isTaken: false,
      code: null,
      answer: null,
      errorClass: 'configuration',
      problem: /SMTP_URL/,
    })
  }
  t.notMatch(JSON.stringify(posted), 'canary')
  t.equal(server.signIns, 1)
})

t.test('an address that is refused, for now or for good, keeps no other from its mail', async t => {
  const server = await startMailServer(t)
  for (const [code, place] of [
    [451, 0],
    [550, 1],
    [550, 2],
  ] as const) {
    server.mails.length = 0
    const bad = THREE[place]!
    server.refuse = to => (to === bad ? { code, text: 'mailbox\tunavailable' } : null)
    const posted = await open(t, server.url).send(
      THREE.map(to => letter(to)),
      { signal },
    )
    t.strictSame(
      posted.map(({ isTaken }) => isTaken),
      THREE.map(to => to !== bad),
    )
    t.match(posted[place], {
      code,
      errorClass: 'status',
      answer: `${code} mailbox unavailable`,
      problem: `The mail server refused ${bad}: ${code} mailbox unavailable`,
    })
    t.strictSame(
      server.mails
        .map(({ to }) => to)
        .flat()
        .sort(),
      THREE.filter(to => to !== bad),
    )
  }
})

t.test(
  'a connection that breaks in the middle of a mail fails it, and it is not sent again unasked',
  async t => {
    const server = await startMailServer(t)
    server.breaksOff = true
    const mail = open(t, server.url)
    t.match(await mail.send([letter('a@example.com')], { signal }), [
      { isTaken: false, code: null, errorClass: 'connect', problem: /closed the connection/ },
    ])
    t.equal(server.begun, 1)
    server.breaksOff = false
    t.match(await mail.send([letter('a@example.com')], { signal }), [{ isTaken: true }], 'the next one goes')
  },
)

/** A server that takes connections and says nothing. */
async function startSilence(t: { teardown(down: () => unknown): unknown }): Promise<string> {
  const sockets = new Set<{ destroy(): void }>()
  const server = createServer(socket => void sockets.add(socket))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `smtp://localhost:${(server.address() as AddressInfo).port}`
}

t.test('a server that says nothing is waited for so long and no longer', async t => {
  const posted = await open(t, await startSilence(t)).send(
    THREE.map(to => letter(to)),
    { signal, timeoutMs: 200 },
  )
  t.equal(posted.length, 3)
  for (const one of posted) t.match(one, { isTaken: false, code: null, errorClass: 'timeout' })
})

t.test('an abort ends sending at once', async t => {
  const stop = new AbortController()
  const sending = open(t, await startSilence(t)).send([letter('a@example.com')], { signal: stop.signal })
  stop.abort()
  t.match(await sending, [{ isTaken: false, errorClass: 'other', problem: /cut short/ }])
})

t.test('a closed port and an unknown name are distinguished', async t => {
  const unreachable = await open(t, 'smtp://127.0.0.1:1').send([letter('a@example.com')], { signal })
  t.match(unreachable, [{ isTaken: false, errorClass: 'connect', problem: /could not be reached/ }])
  const unknown = await open(t, 'smtp://nothing.invalid').send([letter('a@example.com')], { signal })
  t.match(unknown, [{ isTaken: false, errorClass: /^(dns|timeout)$/ }])
})

t.test('no text gets out of its place: neither into headers nor into commands', async t => {
  const server: MailServer = await startMailServer(t)
  const hostile = 'x\r\nBcc: victim@example.com\r\n\r\n<p>gotcha</p>\r\n.\r\nMAIL FROM:<me@example.com>\r\n'
  await open(t, server.url).send(
    [
      letter('a@example.com', {
        subject: hostile,
        text: hostile,
        html: hostile,
        messageId: '<1@example.com>',
        headers: { 'X-Request-Id': hostile },
      }),
    ],
    { signal },
  )
  t.equal(server.mails.length, 1)
  const [mail] = server.mails
  t.strictSame(mail?.to, ['a@example.com'])
  t.notOk(mail && 'bcc' in mail.headers)
  t.match(mail?.headers.subject, /^x Bcc: victim@example\.com/)
})

t.test('settings of mail are read, and what is wrong is reported without the password', async t => {
  const server = (SMTP_URL: string) => readConfig({ SMTP_URL }).smtpUrl
  t.strictSame(server('smtps://me:p%40ss@mail.example.com'), {
    host: 'mail.example.com',
    port: 465,
    tls: 'implicit',
    auth: { user: 'me', password: 'p@ss' },
  })
  t.strictSame(server('smtp://[::1]:2525/'), { host: '::1', port: 2525, tls: 'starttls' })
  t.strictSame(server('smtp://relay?tls=off'), { host: 'relay', port: 587, tls: 'none' })
  const wrong = {
    'mail.example.com': /URL such as/,
    'https://mail.example.com': /URL such as/,
    'smtp://': /URL such as/,
    'smtp://me:canary@host/path': /nothing behind the port/,
    'smtp://me:canary@host?tls=off': /in the clear/,
    'smtps://me:canary@host?tls=off': /tls=off/,
    'smtp://me:canary@host?pool=true': /tls=off/,
    'smtp://me:can%ary@host': /%25/,
    'smtp://canary@host': /without a password/,
  }
  for (const [url, problem] of Object.entries(wrong)) {
    const { message } = t.throws(() => server(url)) as ConfigError
    t.match(message, problem, url)
    t.notMatch(message, /canary|can%ary/, url)
  }

  const from = (SMTP_FROM?: string) =>
    readConfig({ BASE_URL: 'https://watch.example.com/x', SMTP_FROM }).smtpFrom
  t.strictSame(from(), { name: 'Tidemark', address: 'tidemark@watch.example.com' })
  t.strictSame(readConfig({}).smtpFrom, { name: 'Tidemark', address: 'tidemark@localhost' })
  t.strictSame(from('a@b.example'), { name: 'Tidemark', address: 'a@b.example' })
  t.strictSame(from('"Müller, Data" <a@b.example>'), { name: 'Müller, Data', address: 'a@b.example' })
  for (const bad of ['no address', 'A <b>', 'a@b.example, c@d.example', 'A\nBcc: x@y.example <a@b.example>'])
    t.throws(() => from(bad), { message: /SMTP_FROM must be an address/ }, bad)
})
