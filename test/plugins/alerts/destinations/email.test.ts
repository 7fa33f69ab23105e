import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { describePayload } from '../../../../plugins/alerts/destinations/describe.ts'
import type { Payload } from '../../../../plugins/alerts/destinations/payload.ts'
import { composeMail, withFooter } from '../../../../plugins/alerts/destinations/email-body.ts'
import { testPayload } from '../../../../plugins/alerts/messages/message.ts'
import { startMailServer } from '../../../helpers/mail-server.ts'
import { startServer, type TestServer } from '../../../helpers/server.ts'
import { runSweep } from '../time.ts'
import { ALERTS, makeWorld, type Delivery, type World } from '../world.ts'

const mailServer = await startMailServer(t)
const app = await startServer(t, {
  settings: {
    SMTP_URL: mailServer.url,
    SMTP_FROM: 'Data alerts <alerts@example.com>',
    BASE_URL: 'https://watch.example.com',
    WEBHOOK_DELAYS: '0,0,0',
  },
})

t.beforeEach(() => {
  mailServer.mails.length = 0
  mailServer.refuse = () => null
})

/** A company with a destination of these people. */
async function makePeople(to: string[], { server, ask, query }: TestServer = app) {
  const world = await makeWorld({ server, ask, query } as TestServer)
  const { id } = await world.addDestination({ to }, { destination_type: 'email', messages: 'alerts' })
  return { world, id }
}

/** The deliveries of a destination, newest first, once there are so many and all have ended. */
async function ended(
  world: World,
  id: string,
  count: number,
): Promise<(Delivery & Record<string, unknown>)[]> {
  for (;;) {
    const found = (await world.deliveries(id)) as (Delivery & Record<string, unknown>)[]
    if (found.length >= count && found.every(({ status }) => status !== 'pending')) return found
    await wait(50)
  }
}

const subscriptions = () => app.server.plugins.alerts.subscriptions
const readers = () => mailServer.mails.map(({ to }) => to.join()).sort()

t.test('each person gets a mail of their own, that says what happened and how to get no more', async t => {
  const { world, id } = await makePeople(['Ann@example.com', 'bob@example.com'])
  const { alertId } = await world.raise({ severity: 'critical' })
  const [delivery] = await ended(world, id, 1)
  t.match(delivery, { status: 'delivered', attempts: [{ n: 1, status_code: 250, error_class: null }] })
  t.match(delivery?.attempts[0]?.response_body, /^Ann@example\.com: 250 .*\nbob@example\.com: 250 /)
  t.strictSame(readers(), ['Ann@example.com', 'bob@example.com'])
  for (const mail of mailServer.mails) {
    const [reader = ''] = mail.to
    const link = subscriptions().linkFor(reader)
    t.match(
      link,
      /^https:\/\/watch\.example\.com\/api\/public\/unsubscribe\?email=[a-z%0-9.]+&token=[0-9a-f]{64}$/,
    )
    t.match(mail.headers, {
      from: 'Data alerts <alerts@example.com>',
      to: reader,
      subject: '[Critical] 3 of 100 values are invalid',
      'list-unsubscribe': `<${link}>`,
      'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
      'auto-submitted': 'auto-generated',
      'x-priority': '1 (Highest)',
      'x-request-id': String(delivery?.attempts[0]?.request_id),
      'content-type': /^multipart\/alternative/,
    })
    for (const text of ['3 of 100 values are invalid', 'shop.shop.public.orders', alertId]) {
      t.match(mail.text, text)
      t.match(mail.html, text)
    }
    t.match(mail.text, link)
    t.match(mail.html, `href="${link.replace('&', '&amp;')}"`)
    t.equal(
      (await app.ask('GET', new URL(link).pathname + new URL(link).search)).status,
      200,
      'the link works',
    )
    t.notMatch(mail.html, /<script|src=|url\(/, 'and the page loads nothing')
  }
})

t.test('mails about one alert form a thread, and duplicates can be recognized', async t => {
  const { world, id } = await makePeople(['ann@example.com'])
  await world.raise()
  await ended(world, id, 1)
  await world.recover()
  const [resolved] = await ended(world, id, 2)
  t.equal(resolved?.event_type, 'alert.resolved')
  const [opened, over] = mailServer.mails.map(({ headers }) => headers)
  t.match(over?.subject, /^Resolved: 3 of 100 values/)
  t.match(opened?.['message-id'], /^<[0-9a-z.-]+@example\.com>$/)
  t.not(over?.['message-id'], opened?.['message-id'])
  t.match(over, { 'in-reply-to': opened?.['message-id'], references: opened?.['message-id'] })
  t.notOk(opened && 'references' in opened)

  await world.ask('POST', `${ALERTS}/deliveries/${resolved?.id}/redeliver`)
  await ended(world, id, 2)
  const again = mailServer.mails.at(-1)
  t.equal(mailServer.mails.length, 3, 'sent again by hand, it goes to all who had got it')
  t.equal(again?.headers['message-id'], over?.['message-id'])
})

t.test('the mail after a snooze is another one than the first, and belongs to it', async t => {
  const { world, id } = await makePeople(['ann@example.com'])
  const { alertId } = await world.raise()
  await ended(world, id, 1)
  for (const count of [2, 3]) {
    await world.ask('POST', `${ALERTS}/${alertId}/snooze`, { duration_minutes: 5 })
    await app.query('update alerts set snoozed_until = now() where id = $1', [alertId])
    await runSweep(app, app.server)
    await ended(world, id, count)
  }
  const [first, ...reminders] = mailServer.mails.map(({ headers }) => headers)
  t.equal(new Set(mailServer.mails.map(({ headers }) => headers['message-id'])).size, 3)
  for (const reminder of reminders) t.match(reminder, { 'in-reply-to': first?.['message-id'] })
})

t.test('an address that is refused is tried again, and those who got it are left alone', async t => {
  const { world, id } = await makePeople(['ann@example.com', 'bob@example.com', 'cy@example.com'])
  let refusals = 1
  mailServer.refuse = to =>
    to === 'bob@example.com' && refusals-- > 0 ? { code: 451, text: 'try later' } : null
  await world.raise()
  const [delivery] = await ended(world, id, 1)
  t.match(delivery, {
    status: 'delivered',
    attempts: [
      {
        n: 1,
        status_code: 451,
        error_class: 'status',
        error_message:
          '1 of 3 addresses did not get it. The mail server refused bob@example.com: 451 try later',
      },
      { n: 2, status_code: 250, response_body: /^bob@example\.com: 250 [^\n]*$/ },
    ],
  })
  t.strictSame(readers(), ['ann@example.com', 'bob@example.com', 'cy@example.com'])
})

t.test('an address that is never taken fails the delivery, and the others have their mail once', async t => {
  const { world, id } = await makePeople(['ann@example.com', 'gone@example.com'])
  mailServer.refuse = to => (to === 'gone@example.com' ? { code: 550, text: 'no such user' } : null)
  await world.raise()
  const [delivery] = await ended(world, id, 1)
  t.match(delivery, { status: 'failed', attempts: [{ n: 1 }, { n: 2 }, { n: 3, status_code: 550 }] })
  t.strictSame(readers(), ['ann@example.com'])
})

t.test('an unsubscribed address gets no mail; with no recipient left, that is no failure', async t => {
  const [ann, bob] = ['ann-away@example.com', 'bob-away@example.com']
  const { world, id } = await makePeople(['Ann-Away@example.com', bob])
  await subscriptions().unsubscribe(ann)
  await world.raise()
  const [first] = await ended(world, id, 1)
  t.match(first, {
    status: 'delivered',
    attempts: [{ response_body: /\nann-away@example\.com: has unsubscribed$/ }],
  })
  t.strictSame(readers(), [bob])

  await subscriptions().unsubscribe(bob)
  await world.raise({ cause: 'rule:2' })
  const [second] = await ended(world, id, 2)
  t.match(second, { status: 'delivered', attempts: [{ n: 1, status_code: null, error_class: null }] })
  t.equal(mailServer.mails.length, 1)
  // A test asks whether it arrives.
  const tested = await world.ask('POST', `${ALERTS}/destinations/${id}/test`)
  t.match(tested.body.data, { success: false, error_message: /^All these addresses have unsubscribed/ })

  await subscriptions().subscribe(ann)
  await world.raise({ cause: 'rule:3' })
  await ended(world, id, 3)
  t.strictSame(readers(), ['Ann-Away@example.com', bob])
})

t.test('a test goes to all recipients at once and verifies the destination', async t => {
  const { world, id } = await makePeople(['ann@example.com', 'bob@example.com'])
  const { body } = await world.ask('POST', `${ALERTS}/destinations/${id}/test`)
  t.match(body.data, { success: true, status_code: 250 })
  t.match(mailServer.mails[0]?.headers.subject, /^Test/)
  t.match((await world.ask('GET', `${ALERTS}/destinations/${id}`)).body.data, {
    is_verified: true,
    config: { to: ['ann@example.com', 'bob@example.com'] },
  })
})

t.test('addresses are checked when the destination is made', async t => {
  const world = await makeWorld(app)
  const make = (config: object) =>
    world.ask('POST', `${ALERTS}/destinations`, { name: 'x', destination_type: 'email', config })
  for (const to of [
    undefined,
    [],
    ['ann'],
    ['ann@example.com', 'ANN@example.com'],
    ['ann@example.com\r\nBcc: eve@example.com'],
    ['ann@example.com, eve@example.com'],
    ['Ann <ann@example.com>'],
    Array.from({ length: 51 }, (_, number) => `a${number}@example.com`),
  ]) {
    const { status, body } = await make({ to })
    t.equal(status, 400, JSON.stringify(to)?.slice(0, 60))
    t.match(body.error.details.field, /^config\.to/)
  }
  t.equal(
    (await make({ to: Array.from({ length: 50 }, (_, number) => `a${number}@example.com`) })).status,
    201,
  )
})

t.test('addresses have other names, and one needs no list', async t => {
  const world = await makeWorld(app)
  const make = (config: object) =>
    world.ask('POST', `${ALERTS}/destinations`, { name: 'x', destination_type: 'email', config })
  const [ann, bob] = ['ann@example.com', 'bob@example.com']
  const made = await make({ email: ann })
  t.match(made, { status: 201, body: { data: { config: { to: [ann] } } } })
  t.match((await make({ recipients: [ann, bob] })).body.data, { config: { to: [ann, bob] } })
  t.equal((await make({ email: ann, recipients: [bob] })).status, 400)
  t.match((await make({ email: 'ann' })).body.error.details.field, /^config\./)
  const path = `${ALERTS}/destinations/${made.body.data.id}`
  t.strictSame((await world.ask('PUT', path, { config: { recipients: [bob] } })).body.data.config, {
    to: [bob],
  })
})

t.test(
  'where no mail server is set up, none can be made, and one that is there says what is missing',
  async t => {
    const bare = await startServer(t, { settings: { WEBHOOK_DELAYS: '0' } })
    const world = await makeWorld(bare)
    const { status, body } = await world.ask('POST', `${ALERTS}/destinations`, {
      name: 'x',
      destination_type: 'email',
      config: { to: ['ann@example.com'] },
    })
    t.equal(status, 400)
    t.match(body.error, { code: 'VALIDATION_ERROR', message: /SMTP_URL/ })

    const { id } = await world.addDestination({ url: 'https://example.com' })
    await bare.query(
      `update destinations set destination_type = 'email', config = '{"to": ["ann@example.com"]}'`,
    )
    const { body: tested } = await world.ask('POST', `${ALERTS}/destinations/${id}/test`)
    t.match(tested.data, { success: false, error_class: 'configuration', error_message: /SMTP_URL/ })
  },
)

t.test('no name can add markup, headers or a footer to a mail', async t => {
  const hostile = `<script>alert(1)</script> <!-- footer --> "x" $& {{x}}\r\nBcc: eve@example.com \u202e`
  const payload = testPayload('1', 'x', 'https://watch.example.com')
  const alert = { ...payload.alert, rule_name: hostile, title: hostile }
  const compose = (composed: Payload) => composeMail(composed, describePayload(composed))
  const body = compose({ ...payload, event_type: 'alert.triggered', alert })
  t.notMatch(body.subject, /[\r\n]/)
  const { html, text } = withFooter(body, 'ann@example.com', 'https://watch.example.com/?email=a&token=b')
  t.notMatch(html, /<script/)
  t.match(html, '&lt;script&gt;alert(1)&lt;/script&gt; &lt;!-- footer --&gt; &quot;x&quot; $&amp; {{x}}')
  t.equal(html.split('https://watch.example.com/?email=a&amp;token=b').length, 2, 'the link stands once')
  t.ok(text.endsWith('https://watch.example.com/?email=a&token=b\n'))
  const long = compose({
    ...payload,
    alert: { ...alert, rule_name: '𝒳'.repeat(10_000), title: 'é'.repeat(1e6) },
  })
  t.ok(long.subject.length <= 200 && long.subject.isWellFormed())
  t.ok(JSON.stringify(long).length < 20_000)
})
