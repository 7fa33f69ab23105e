import { html, type Markup } from '../markup.ts'

/** The colour of a mail that reports neither a problem nor its end. */
export const MAIL_COLOUR = '#1f6feb'

interface MailPage {
  subject: string
  heading: string
  sentence: string
  /** The first is the button. */
  links: readonly { text: string; url: string }[]
  /** What stands between the sentence and the button. */
  content: Markup
  /** What stands below the button. */
  notes?: readonly Markup[]
  footer: Markup
  colour?: string
}

/**
 * The page of a mail, which loads nothing. Inline styles and tables: mail programs remove style sheets and misread other layouts.
 */
export function renderMailPage({
  subject,
  heading,
  sentence,
  links,
  content,
  notes = [],
  footer,
  colour = MAIL_COLOUR,
}: MailPage): Markup {
  const [first, ...others] = links
  const more = others.map(({ text, url }) => html` <a href="${url}" style="color:inherit">${text}</a>`)
  const button = html`<p style="margin:20px 0 32px">
    <a
      href="${first?.url ?? ''}"
      style="display:inline-block;margin-right:12px;padding:10px 18px;border-radius:6px;background:${colour};color:#ffffff;text-decoration:none"
      >${first?.text ?? ''}</a
    >
    ${more}
  </p>`
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
          ${content} ${first ? button : ''} ${notes}
          <p style="margin:${first && notes.length === 0 ? '0' : '32px 0 0'};font-size:13px;opacity:.65">
            ${footer}
          </p>
        </div>
      </body>
    </html> `
}
