import { v7 as uuid } from 'uuid'
import type { Letter } from '../../../server/mail/mail.ts'
import { renderMailPage } from '../../../server/mail/page.ts'
import { html } from '../../../server/markup.ts'
import { shorten } from '../../../server/one-line.ts'
import type { MailAddress } from '../../../server/settings/smtp-settings.ts'

/** A mail about an account: text from people is on one line in it. */
export interface AccountMail {
  to: string
  subject: string
  heading: string
  sentence: string
  link?: { text: string; url: string }
  /** Paragraphs at the end. */
  notes: readonly string[]
}

const MAX_NAME_UNITS = 60
const MAX_SUBJECT_UNITS = 200

/** A name that a person has chosen, for a sentence: no line breaks, which could end a header, and not long. */
export const nameInMail = (name: string): string => shorten(name, MAX_NAME_UNITS)

export function composeLetter(mail: AccountMail, from: MailAddress): Letter {
  const { to, sentence, link, notes } = mail
  const subject = shorten(mail.subject, MAX_SUBJECT_UNITS)
  const heading = shorten(mail.heading, MAX_SUBJECT_UNITS)
  const address = link ? [`${link.text}: ${link.url}`, ''] : []
  return {
    to,
    subject,
    text: [
      heading,
      '',
      sentence,
      '',
      ...address,
      ...notes.flatMap(note => [note, '']),
      '-- ',
      `Sent by Tidemark to ${to}.`,
      '',
    ].join('\n'),
    html: renderMailPage({
      subject,
      heading,
      sentence,
      links: link ? [link] : [],
      content: html``,
      notes: notes.map(note => html`<p style="margin:16px 0 0;overflow-wrap:anywhere">${note}</p>`),
      footer: html`Sent by Tidemark to ${to}.`,
    }).text,
    messageId: `<${uuid()}@${from.address.split('@').at(-1)}>`,
  }
}
