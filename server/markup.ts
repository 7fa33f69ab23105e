const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text of HTML that may stand in a page as it is. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/**
 * A template of HTML: what is put into it is escaped, in text and in quoted attributes, unless it is markup itself;
 * lists are joined, and null is nothing.
 */
export function html(
  parts: TemplateStringsArray,
  ...values: (string | number | Markup | readonly Markup[] | null)[]
): Markup {
  const written = values.map(value => {
    if (value === null) return ''
    if (value instanceof Markup) return value.text
    return typeof value === 'object' ? value.map(({ text }) => text).join('') : escapeHtml(String(value))
  })
  return new Markup(parts.map((part, place) => part + (written[place] ?? '')).join(''))
}

const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, character => ESCAPES[character]!)
