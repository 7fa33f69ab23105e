import { html, Markup } from '../../../server/markup.ts'
import { SEVERITY_LABELS, shorten, type PayloadDescription } from './describe.ts'
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
const FOOTER = '<!-- footer -->'

const COLOURS = { critical: '#b3261e', warning: '#b26a00', info: '#1f6feb' }
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
    html: renderPage(subject, { heading, sentence, links, colour: COLOURS.info }, html`${parts}`).text,
    isUrgent: false,
  }
}

/** The mail with the unsubscribe link of one recipient. */
export function withFooter(body: Pick<MailBody, 'text' | 'html'>, to: string, link: string) {
  const footer = html`Sent by Tidemark to ${to}. <a href="${link}" style="color:inherit">Unsubscribe</a>`
  return {
    text: `${body.text}\n-- \nSent by Tidemark to ${to}. To get no more of it: ${link}\n`,
    html: body.html.replace(FOOTER, () => footer.text),
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
  return renderPage(subject, { ...description, colour }, table)
}

/** Inline styles and tables: mail programs remove style sheets and misread other layouts. */
function renderPage(
  subject: string,
  {
    heading,
    sentence,
    links,
    colour,
  }: Pick<PayloadDescription, 'heading' | 'sentence' | 'links'> & { colour: string },
  content: Markup,
): Markup {
  const [first, ...others] = links
  const more = others.map(({ text, url }) => html` <a href="${url}" style="color:inherit">${text}</a>`)
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${subject}</title>
      </head>
      <body
        style="margin:0;padding:24px 16px;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"
      >
        <div style="max-width:560px;margin:0 auto">
          <div style="border-left:4px solid ${colour};padding:2px 0 2px 16px">
            <h1 style="margin:0 0 8px;font-size:20px;line-height:1.3;overflow-wrap:anywhere">${heading}</h1>
            ${sentence === '' ? '' : html`<p style="margin:0;overflow-wrap:anywhere">${sentence}</p>`}
          </div>
          ${content}
          <p style="margin:20px 0 32px">
            <a
              href="${first?.url ?? ''}"
              style="display:inline-block;margin-right:12px;padding:10px 18px;border-radius:6px;background:${colour};color:#ffffff;text-decoration:none"
              >${first?.text ?? ''}</a
            >
            ${more}
          </p>
          <p style="margin:0;font-size:13px;opacity:.65">${new Markup(FOOTER)}</p>
        </div>
      </body>
    </html> `
}
