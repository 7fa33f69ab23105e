import t from 'tap'
import type { DigestContent } from '../../../../plugins/alerts/destinations/destination.ts'
import { composeDigestMail } from '../../../../plugins/alerts/destinations/email-body.ts'
import { slack } from '../../../../plugins/alerts/destinations/types/slack.ts'
import { teams } from '../../../../plugins/alerts/destinations/types/teams.ts'
import { startReceiver } from '../../../helpers/receiver.ts'
import { startServer } from '../../../helpers/server.ts'
import { slackPlace } from '../fake-receivers.ts'
import { ALERTS, makeWorld } from '../world.ts'

const digest: DigestContent = {
  name: 'Last week',
  since: '2026-03-09T07:00:00.000Z',
  until: '2026-03-16T07:00:00.000Z',
  heading: 'Weekly digest: 1 incident, 3 alerts',
  sentence: 'Last week: 9 March 08:00 to 16 March 08:00, Europe/Berlin',
  sections: [
    {
      name: 'tables',
      title: 'Alerts by table',
      lines: [
        { text: '<!channel> <b>: 3 alerts', url: 'https://watch.example.com/tables/1' },
        { text: 'Keys of 2 of 9 tables', url: null },
      ],
    },
  ],
  links: [{ text: 'Open the tables', url: 'https://watch.example.com/tables' }],
}

t.test('a mail has a digest as text and as a page, with links and escaped names', async t => {
  const { subject, text, html, isUrgent } = composeDigestMail(digest)
  t.equal(subject, digest.heading)
  t.equal(isUrgent, false)
  t.strictSame(text.split('\n').slice(2), [
    digest.sentence,
    '',
    'Alerts by table',
    '- <!channel> <b>: 3 alerts',
    '  https://watch.example.com/tables/1',
    '- Keys of 2 of 9 tables',
    '',
    'Open the tables: https://watch.example.com/tables',
    '',
  ])
  t.match(html, '&lt;!channel&gt;')
  t.notMatch(html, '<!channel>')
  t.match(html, 'href="https://watch.example.com/tables/1"')
})

t.test('Teams gets a digest as a card, line by line', async t => {
  const { attachments } = JSON.parse(String(teams.composeDigest?.(digest, { webhook_url: '' })))
  const [{ content }] = attachments
  const texts = JSON.stringify(content.body)
  for (const text of [digest.heading, 'Alerts by table', '• Keys of 2 of 9 tables']) t.match(texts, text)
  t.match(content.actions, [{ url: 'https://watch.example.com/tables' }])
})

t.test('Slack takes a digest, whose lines are links', async t => {
  const { blocks } = JSON.parse(String(slack.composeDigest?.(digest, { webhook_url: '' })))
  t.match(JSON.stringify(blocks), '"url":"https://watch.example.com/tables/1"')
  const app = await startServer(t)
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  receiver.answer(slackPlace)
  const { id } = await world.addDestination(
    { webhook_url: `${receiver.url}/services/T0` },
    { destination_type: 'slack' },
  )
  await world.raise()
  const { body } = await world.ask('POST', `${ALERTS}/digests`, { name: 'Last week', destination_id: id })
  await world.ask('POST', `${ALERTS}/digests/${body.data.id}/send`)
  for (;;) {
    const [sent] = (await world.deliveries(id)).filter(({ event_type: type }) => type === 'digest')
    if (sent && sent.status !== 'pending') {
      t.equal(sent.status, 'delivered', JSON.stringify(sent))
      return
    }
    await new Promise(resolve => setTimeout(resolve, 50))
  }
})
