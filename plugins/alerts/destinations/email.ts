import { createHash } from 'node:crypto'
import Joi from 'joi'
import type { Letter, Mail, Posted } from '../../../server/mail/mail.ts'
import { failedOutcome, type DestinationType, type Message, type DeliveryOutcome } from './destination.ts'
import { composeDigestMail, composeMail, withFooter, type MailBody } from './email-body.ts'
import type { Subscriptions } from '../api.ts'
import type { Deps } from '../deps.ts'
import { normalizeEmail } from './subscriptions.ts'

interface EmailConfig {
  to: string[]
  to_owners?: boolean
}

const MAX_RECIPIENTS = 50

const address = Joi.string().email({ tlds: false, minDomainSegments: 1 }).max(254)

const config = Joi.object<EmailConfig>({
  to: Joi.array()
    .items(address)
    .single()
    .min(1)
    .max(MAX_RECIPIENTS)
    .unique((one: string, other: string) => normalizeEmail(one) === normalizeEmail(other))
    .required()
    .description('Addresses; each gets a mail of its own.'),
  to_owners: Joi.boolean()
    .strict()
    .description(
      'Mail about an asset goes to its owners; `to` gets it if there is none with an address. Tests and digests go to `to`.',
    ),
})
  // A change replaces the stored addresses under any of the names.
  .rename('recipients', 'to', { override: true })
  .rename('email', 'to', { override: true })

/** For the answers to all recipients together. */
const MAX_RESPONSE_CHARACTERS = 16 * 1024

const ALL_UNSUBSCRIBED =
  'All these addresses have unsubscribed: each can be put on again by the link at the end of a mail it got'

const MAIL_UNAVAILABLE = 'Mail cannot be sent from here: the operator has to set SMTP_URL'

interface EmailDeps extends Pick<Deps, 'db' | 'lookUps'> {
  /** Null where the operator has not configured mail. */
  mail: Mail | null
  subscriptions: Subscriptions
}

/** Mail: one for each address, with its own unsubscribe link. */
export function email({ db, lookUps, mail, subscriptions }: EmailDeps): DestinationType<EmailConfig> {
  return {
    name: 'email',
    label: 'Email',
    messages: 'incidents',
    config,
    unavailable: () => (mail ? null : MAIL_UNAVAILABLE),
    compose: (payload, description) => JSON.stringify(composeMail(payload, description)),
    composeDigest: content => JSON.stringify(composeDigestMail(content)),
    async deliver(message, { config, signal }) {
      if (!mail) return failedOutcome('configuration', MAIL_UNAVAILABLE)
      const owners = config.to_owners ? await listOwners({ db, lookUps }, message).catch(() => null) : []
      if (!owners) return failedOutcome('other', 'The owners could not be read: the database did not answer')
      const to = owners.length > 0 ? owners : config.to
      const startedAt = performance.now()
      const unsubscribed = await subscriptions.unsubscribed(to).catch(() => null)
      // Recipients who may have unsubscribed get no mail.
      if (!unsubscribed)
        return failedOutcome(
          'other',
          'The unsubscribed addresses could not be read: the database did not answer',
        )
      const served = new Set(message.served)
      const left = to.filter(
        one => !served.has(normalizeEmail(one)) && !unsubscribed.has(normalizeEmail(one)),
      )
      // A test that reaches no recipient must not count as delivered.
      if (left.length === 0 && served.size === 0 && message.eventType === 'alert.test')
        return failedOutcome('configuration', ALL_UNSUBSCRIBED)
      const letters = left.map(one => composeLetter(one, message, mail, subscriptions.linkFor(one)))
      const posted = await mail.send(letters, { signal })
      return combineOutcomes({
        to,
        unsubscribed,
        served,
        posted,
        latencyMs: Math.round(performance.now() - startedAt),
      })
    },
  }
}

/**
 * The addresses of the owners of a message's asset; none of a test or a digest. That of an incident is the asset of the alert that it
 * is sent for. A message names no company.
 */
async function listOwners(
  { db, lookUps: { owners } }: Pick<EmailDeps, 'db' | 'lookUps'>,
  { deliveryId, eventType }: Message,
): Promise<string[]> {
  if (!owners || eventType === 'alert.test' || eventType === 'digest') return []
  const [alert] = await db.statement<{ companyId: string; assetId: string | null }>(
    `select a.company_id, coalesce(a.asset_id, a.source_id) as asset_id
       from deliveries d join alerts a on a.company_id = d.company_id and a.id = d.alert_id where d.id = :deliveryId`,
    { deliveryId },
  )
  const assetId = alert?.assetId
  if (!alert || !assetId) return []
  const addresses = await db.company(alert.companyId, trx => owners.listAddresses(trx, assetId))
  return addresses.slice(0, MAX_RECIPIENTS)
}

/**
 * The letter to one address. Its id is derived from the alert or incident, the message type, the time of a reminder or update
 * and the address, so that mail programs can recognize duplicates and thread the messages of one alert or incident.
 */
function composeLetter(to: string, message: Message, { from }: Mail, link: string): Letter {
  const { subject, isUrgent, remindedAt, updatedAt, ...body } = JSON.parse(message.body) as MailBody
  const domain = normalizeEmail(from.address.split('@').at(-1)!)
  const reader = createHash('sha256').update(normalizeEmail(to)).digest('hex').slice(0, 16)
  const idOf = (type: string) => `<${message.id}.${type}.${reader}@${domain}>`
  const firstId = idOf('alert.triggered')
  const again = remindedAt ?? updatedAt
  const messageId = idOf(again ? `${message.eventType}.${Date.parse(again)}` : message.eventType)
  return {
    to,
    subject,
    ...withFooter(body, to, link),
    messageId,
    ...((again || message.eventType === 'alert.resolved') && { inReplyTo: firstId }),
    isUrgent,
    headers: {
      'List-Unsubscribe': `<${link}>`,
      // RFC 8058 allows https only.
      ...(link.startsWith('https:') && { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
      'X-Request-Id': message.requestId,
    },
  }
}

/** One outcome of all letters: delivered if every subscribed recipient has been served. */
function combineOutcomes({
  to,
  unsubscribed,
  served,
  posted,
  latencyMs,
}: {
  to: readonly string[]
  unsubscribed: ReadonlySet<string>
  served: ReadonlySet<string>
  posted: readonly Posted[]
  latencyMs: number
}): DeliveryOutcome {
  const refused = posted.filter(({ isTaken }) => !isTaken)
  const answers = posted.map(({ to: one, answer, problem }) => `${one}: ${answer ?? problem}`)
  const [worst] = refused
  return {
    isDelivered: !worst,
    statusCode: (worst ?? posted[0])?.code ?? null,
    errorClass: worst?.errorClass ?? null,
    errorMessage: worst ? describeRefusals(refused, to.length) : null,
    address: null,
    tlsVersion: null,
    latencyMs,
    responseBody: [...answers, ...[...unsubscribed].map(one => `${one}: has unsubscribed`)]
      .join('\n')
      .slice(0, MAX_RESPONSE_CHARACTERS),
    served: [...served, ...posted.filter(({ isTaken }) => isTaken).map(({ to: one }) => normalizeEmail(one))],
  }
}

function describeRefusals([first, ...others]: readonly Posted[], readers: number): string {
  const problem = first?.problem ?? ''
  return others.length + 1 === readers || readers === 1
    ? problem
    : `${others.length + 1} of ${readers} addresses did not get it. ${problem}`
}
