/**
 * The sentences of real alerts of all kinds, as each destination has them. `GOLDEN=write` writes the file anew; read it then
 * as who is woken by one of them.
 */
import { readFile, writeFile } from 'node:fs/promises'
import t from 'tap'
import { formatFindings } from '../../../../plugins/checks/check-command.ts'
import { startMailServer } from '../../../helpers/mail-server.ts'
import { startReceiver } from '../../../helpers/receiver.ts'
import { discover, makeWorld } from '../../../helpers/world.ts'
import { ALERTS } from '../world.ts'
import { STORIES, TABLES } from './stories.ts'

const GOLDEN = new URL('sentences.golden.txt', import.meta.url)

const mails = await startMailServer(t)
const receiver = await startReceiver(t)
const world = await makeWorld(t, TABLES, {
  isOwn: true,
  settings: {
    SMTP_URL: mails.url,
    SMTP_FROM: 'Data <alerts@example.com>',
    BASE_URL: 'https://watch.example.com',
  },
})
const { app, tenant } = world

interface Sent {
  destinationType: string
  body: string
}

interface Part {
  text?: string | { text?: string }
  items?: Part[]
  inlines?: Part[]
  elements?: Part[]
}

/** The texts of a Slack message or a card, line by line. */
function textOf(part: Part): string {
  const own = typeof part.text === 'object' ? part.text.text : part.text
  const children = [...(part.items ?? []), ...(part.inlines ?? []), ...(part.elements ?? [])]
  return own ?? children.map(textOf).join('')
}

const READERS: Record<string, (body: string) => string> = {
  slack: body => (JSON.parse(body) as { blocks: Part[] }).blocks.map(textOf).join('\n'),
  teams: body => {
    const { attachments } = JSON.parse(body) as { attachments: { content: { body: Part[] } }[] }
    return attachments[0]!.content.body.map(textOf).join('\n')
  },
  email: body => {
    const { subject, text } = JSON.parse(body) as { subject: string; text: string }
    return `Subject: ${subject}\n\n${text}`
  },
  pagerduty: body => (JSON.parse(body) as { payload: { summary: string } }).payload.summary,
  webhook: body => (JSON.parse(body) as { alert: { title: string } }).alert.title,
}

/** Without what differs from run to run. */
function stable(text: string): string {
  return text
    .replaceAll(world.source.name, 'shopdb')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+( UTC|Z)/g, '<time>')
    .replaceAll(/ +$/gm, '')
}

async function addDestinations() {
  const configs = {
    webhook: { url: receiver.url },
    slack: { webhook_url: receiver.url },
    teams: { webhook_url: receiver.url },
    pagerduty: { url: receiver.url, routing_key: 'key' },
    email: { to: ['ann@example.com'] },
  }
  for (const [type, config] of Object.entries(configs)) {
    const body = { name: type, destination_type: type, config, messages: 'alerts' }
    const made = await tenant.ask('POST', `${ALERTS}/destinations`, body)
    if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  }
}

interface Raised {
  id: string
  kind: string
  severity: string
  title: string
  explanation: string | null
}

/** One alert as all destinations show it. */
async function describe(alert: Raised): Promise<string> {
  const sent = (await app.query(
    `select d.destination_type, v.body from deliveries v join destinations d on d.id = v.destination_id
     where v.alert_id = $1 and v.event_type = 'alert.triggered' order by d.destination_type`,
    [alert.id],
  )) as unknown as ({ destination_type: string } & Sent)[]
  const byType = new Map(sent.map(({ destination_type: type, body }) => [type, READERS[type]!(body)]))
  const chat = byType.get('slack')?.split('\n').slice(0, -1).join('\n')
  const texts = [...byType].map(([type, text]) => {
    if (type === 'teams' && text === chat) return 'teams: as slack'
    return text.includes('\n') ? `${type}:\n\n${indent(text)}` : `${type}: ${text}`
  })
  const head = `### ${alert.title}\n\n${alert.kind}, ${alert.severity}. Why: ${alert.explanation ?? '–'}`
  return [head, ...texts].join('\n\n')
}

const indent = (text: string) =>
  text
    .trim()
    .split('\n')
    .map(line => (line === '' ? '' : `    ${line}`))
    .join('\n')

/** The lines of the command, without metrics: what they say now depends on the day. */
async function printChecks(): Promise<string> {
  const found = await app.server.plugins.checks.checkAsset(
    { companyId: tenant.companyId, sourceId: world.asset.id },
    { signal: AbortSignal.timeout(60_000) },
  )
  const findings = (found?.findings ?? []).filter(({ feature }) => feature !== 'metrics')
  const lines = formatFindings(findings).map(line => line.replaceAll(/ +/g, ' '))
  return lines.toSorted((a, b) => (a < b ? -1 : 1)).join('\n')
}

async function writeStories(): Promise<string> {
  const known = new Set<string>()
  const chapters: string[] = []
  for (const [title, happen] of STORIES) {
    await app.query('delete from rate_windows')
    await happen(world)
    const alerts = (await app.query(
      `select id, kind, severity, title, event -> 'details' ->> 'explanation' as explanation from alerts
       where company_id = $1 order by kind, title`,
      [tenant.companyId],
    )) as unknown as Raised[]
    const news = alerts.filter(({ id }) => !known.has(id))
    for (const { id } of news) known.add(id)
    chapters.push(`## ${title}`, ...(await Promise.all(news.map(describe))))
  }
  chapters.push('## What `tidemark check` prints', indent(await printChecks()))
  return stable(`# What alerts say\n\n${chapters.join('\n\n')}\n`)
}

t.test('alerts of all kinds say what is wrong in the same words everywhere', async t => {
  await discover(world)
  await addDestinations()
  const written = await writeStories()
  if (process.env.GOLDEN === 'write') await writeFile(GOLDEN, written)
  t.equal(written, await readFile(GOLDEN, 'utf8'), 'GOLDEN=write writes the file anew')
})
