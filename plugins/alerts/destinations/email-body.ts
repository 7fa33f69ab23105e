import { MAIL_COLOUR, renderMailPage } from '../../../server/mail/page.ts'
import { html, Markup } from '../../../server/markup.ts'
import { shorten } from '../../../server/one-line.ts'
import { SEVERITY_LABELS, type PayloadDescription } from './describe.ts'
import type { DigestContent, Payload } from './destination.ts'

/** The part of a mail that all recipients share. */
export interface MailBody {
  subject: string
  text: string
  html: string
  isUrgent: boolean
  /** When it was sent again, since a snooze had ended. */
  remindedAt?: string
  /** When a later message about an incident was sent. */
  updatedAt?: string
}

const MAX_SUBJECT_CHARACTERS = 200

/** Replaced by the footer. No payload can contain it, since `<` is escaped. */
const FOOTER = new Markup('<!-- footer -->')

const COLOURS = { critical: '#b3261e', warning: '#b26a00', info: MAIL_COLOUR }
const RESOLVED_COLOUR = '#1a7f37'

/** A mail about an alert, as text and as a page that loads nothing. */
export function composeMail(payload: Payload, description: PayloadDescription): MailBody {
  const { severity, reminded_at: remindedAt } = payload.alert
  const isOpen = payload.event_type === 'alert.triggered'
  // No symbol is in a subject.
  const mark = isOpen ? `[${SEVERITY_LABELS[payload.incident?.severity ?? severity]}] ` : ''
  const subject = shorten(`${mark}${description.heading}`, MAX_SUBJECT_CHARACTERS)
  const colour = payload.event_type === 'alert.resolved' ? RESOLVED_COLOUR : COLOURS[severity]
  return {
    subject,
    text: renderText(description),
    html: renderHtml(subject, description, colour).text,
    isUrgent: isOpen && severity === 'critical',
    ...(remindedAt && { remindedAt }),
    ...(payload.incident?.event === 'updated' && { updatedAt: payload.incident.updated_at }),
  }
}

/** A digest, as text and as a page that loads nothing. */
export function composeDigestMail({ heading, sentence, sections, links }: DigestContent): MailBody {
  const subject = shorten(heading, MAX_SUBJECT_CHARACTERS)
  const texts = sections.flatMap(({ title, lines }) => [
    title,
    ...lines.map(({ text, url }) => `- ${text}${url === null ? '' : `\n  ${url}`}`),
    '',
  ])
  const addresses = links.map(({ text, url }) => `${text}: ${url}`)
  const parts = sections.map(
    ({ title, lines }) =>
      html`<h2 style="margin:20px 0 4px;font-size:16px">${title}</h2>
        <ul style="margin:0;padding-left:20px;font-size:15px">
          ${lines.map(
            ({ text, url }) =>
              html`<li style="overflow-wrap:anywhere">
                ${url === null ? text : html`<a href="${url}" style="color:inherit">${text}</a>`}
              </li>`,
          )}
        </ul>`,
  )
  return {
    subject,
    text: [heading, '', sentence, '', ...texts, ...addresses, ''].join('\n'),
    html: renderMailPage({
      subject,
      heading,
      sentence,
      links,
      colour: COLOURS.info,
      content: html`${parts}`,
      footer: FOOTER,
    }).text,
    isUrgent: false,
  }
}

/** The mail with the unsubscribe link of one recipient. */
export function withFooter(body: Pick<MailBody, 'text' | 'html'>, to: string, link: string) {
  const footer = html`Sent by Tidemark to ${to}. <a href="${link}" style="color:inherit">Unsubscribe</a>`
  return {
    text: `${body.text}\n-- \nSent by Tidemark to ${to}. To get no more of it: ${link}\n`,
    html: body.html.replace(FOOTER.text, () => footer.text),
  }
}

function renderText({ heading, sentence, facts, links }: PayloadDescription): string {
  const lines = facts.map(({ name, value }) => `${name}: ${value}`)
  const addresses = links.map(({ text, url }) => `${text}: ${url}`)
  return [heading, '', ...(sentence === '' ? [] : [sentence, '']), ...lines, '', ...addresses, ''].join('\n')
}

function renderHtml(subject: string, description: PayloadDescription, colour: string): Markup {
  const { facts } = description
  const rows = facts.map(
    ({ name, value }) =>
      html`<tr>
        <td style="padding:4px 16px 4px 0;opacity:.65;vertical-align:top;white-space:nowrap">${name}</td>
        <td style="padding:4px 0;vertical-align:top;overflow-wrap:anywhere">${value}</td>
      </tr>`,
  )
  const table = html`<table role="presentation" style="margin:20px 0;border-collapse:collapse;font-size:15px">
    ${rows}
  </table>`
  const { heading, sentence, links } = description
  return renderMailPage({ subject, heading, sentence, links, colour, content: table, footer: FOOTER })
}
