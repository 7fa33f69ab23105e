import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { Marked, Renderer, type Tokens } from 'marked'
import { html, Markup } from '../../server/markup.ts'
import { assetPath, contentTag } from './assets.ts'
import { pageAddress, pageFile, pageGroups, pageNames } from './doc-pages.ts'
import { renderHeader, renderPage } from './page-shell.ts'

export const siteScripts = [assetPath('site.js')]
const MAX_SUMMARY_CHARACTERS = 90
/** What all pictures of the console measure, in pixels: the page does not move when one arrives. */
export const PICTURE_SIZE = { width: 1280, height: 760 }
/** Not in the search index, which would be a tenth larger. */
const STOP_WORDS = new Set(
  `a above after again all also an and another any are as at be because been before being below between both but by can
  cannot could do does done each either else even every few for from had has have here how if in into is it its itself
  just least less like made many may more most much must no nor not nothing of on once one only or other others over own
  same several should since so some such than that the their them then there these they this those though thus to too
  under until up upon very was were what when where whether which while who whose why will with within without would you
  your`.split(/\s+/),
)

/** A part of a page, from its heading to the next one. */
interface Section {
  id: string
  level: number
  heading: string
  /** The Markdown below the heading. */
  text: string
}

/** The field in which the documentation is searched; the script of the site shows it. */
export function renderSearch(): Markup {
  return html`<search hidden>
    <input type="search" aria-label="Search the documentation" placeholder="Search" aria-controls="results" />
    <p role="status" class="hidden"></p>
    <ul id="results" hidden></ul>
  </search>`
}

const rendered = new Map<string, { content: string; tag: string }>()

/** A page of the documentation as HTML, with its ETag; rendered at the first use. */
export function documentationPage(name: string): { content: string; tag: string } {
  const known = rendered.get(name)
  if (known) return known
  const content = renderDocumentation(name)
  const page = { content, tag: contentTag(content) }
  rendered.set(name, page)
  return page
}

let index: { content: string; tag: string } | undefined

/**
 * The search index as JSON: for each page its name, title and sections, each with id, heading, first words, and the
 * other words it contains.
 * Words rather than texts, since the index is to stay small on a phone: it has 42 kB compressed.
 */
export function searchIndex(): { content: string; tag: string } {
  if (index) return index
  const pages = pageNames.map(name => {
    const all = sectionsOf(name)
    const title = all[0]?.heading ?? name
    const sections = all.map(({ id, heading, text }, place) => {
      const words = wordsOf(plainText(text))
        .filter(word => ![title, heading].some(line => hasBeginning(line.toLowerCase(), word)))
        .join(' ')
      return [place === 0 ? '' : id, heading, summarize(text), words]
    })
    return [name, title, sections]
  })
  const content = JSON.stringify(pages)
  return (index = { content, tag: contentTag(content) })
}

function renderDocumentation(name: string): string {
  const sections = sectionsOf(name)
  const order = ['index', ...pageGroups.flatMap(({ pages }) => pages.map(page => page.name))]
  const titles = new Map(pageGroups.flatMap(({ pages }) => pages.map(page => [page.name, page.title])))
  const link = (to: string, text: string) =>
    to === name
      ? html`<li><a href="${pageAddress(to)}" aria-current="page">${text}</a></li>`
      : html`<li><a href="${pageAddress(to)}">${text}</a></li>`
  const place = order.indexOf(name)
  const turns = [
    [order[place - 1], 'Previous: '],
    [order[place + 1], 'Next: '],
  ].filter((turn): turn is [string, string] => turn[0] !== undefined)
  return renderPage({
    title: `${sections[0]?.heading} · Tidemark`,
    layout: 'docs',
    scripts: siteScripts,
    content: html`${renderHeader(
        pageAddress('index'),
        html`<button class="menu" popovertarget="pages">Pages</button>${renderSearch()}`,
      )}
      <nav id="pages" aria-label="Pages" popover>
        <button class="menu" popovertarget="pages" popovertargetaction="hide">Close</button>
        ${pageGroups.map(
          ({ title, pages }) =>
            html`<p>${title}</p>
              <ul>
                ${pages.map(page => link(page.name, page.title))}
              </ul>`,
        )}
      </nav>
      <main id="main">
        ${renderMarkdown(name, sections)}
        <nav class="turns" aria-label="Previous and next page">
          ${turns.map(([to, text]) => html`<a href="${pageAddress(to)}">${text}${titles.get(to) ?? 'Overview'}</a>`)}
        </nav>
      </main>
      <nav id="sections" aria-label="On this page">
        <p>On this page</p>
        <ul>
          ${sections
            .filter(({ level }) => level === 2)
            .map(({ id, heading }) => html`<li><a href="#${id}">${heading}</a></li>`)}
        </ul>
      </nav>`,
  })
}

/** Raw HTML in a page is shown as text. */
function renderMarkdown(name: string, sections: readonly Section[]): Markup {
  let place = 0
  const marked = new Marked({
    // Addresses in texts are examples, no links.
    tokenizer: { url: () => undefined },
    renderer: {
      heading({ depth, tokens }) {
        const text = this.parser.parseInline(tokens)
        const id = sections[place++]?.id
        return depth === 1
          ? `<h1 id="${id}">${text}</h1>`
          : `<h${depth} id="${id}"><a href="#${id}">${text}</a></h${depth}>`
      },
      code({ text, lang = '' }) {
        const [, note = ''] = lang.split(' ')
        return html`<pre class="${note}"><code>${text}</code></pre>`.text
      },
      // Long names may break within.
      codespan: ({ text }) => `<code>${html`${text}`.text.replaceAll(/[_./]+(?=\w)/g, '$&<wbr>')}</code>`,
      table(token: Tokens.Table) {
        return `<div class="table-box">${Renderer.prototype.table.call(this, token)}</div>`
      },
      html: ({ text }) => html`${text}`.text,
      image: ({ href, text }) =>
        html`<img
          src="${assetPath(basename(href))}"
          alt="${text}"
          width="${PICTURE_SIZE.width}"
          height="${PICTURE_SIZE.height}"
          loading="lazy"
        />`.text,
      link(token: Tokens.Link) {
        return Renderer.prototype.link.call(this, { ...token, href: linkTarget(token.href) })
      },
    },
  })
  return new Markup(marked.parse(pageText(name), { async: false }))
}

/** Pages link to each other by file, so that the links work on GitHub too. */
const linkTarget = (href: string) =>
  href.replace(/^([a-z0-9-]+)\.md(?=#|$)/, (file, page: string) =>
    pageNames.includes(page) ? pageAddress(page) : file,
  )

/** The sections of a page, by its headings; the first one is the title with the text below it. */
function sectionsOf(name: string): Section[] {
  const sections: Section[] = []
  const counts = new Map<string, number>()
  for (const token of new Marked().lexer(pageText(name))) {
    const last = sections.at(-1)
    if (token.type !== 'heading') {
      if (last) last.text += token.raw
      continue
    }
    const { depth, text } = token as Tokens.Heading
    const slug = slugOf(text)
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    sections.push({
      id: count === 0 ? slug : `${slug}-${count}`,
      level: depth,
      heading: plainText(text),
      text: '',
    })
  }
  return sections
}

function pageText(name: string): string {
  return readFileSync(pageFile(`${name}.md`), 'utf8')
}

/** The id of a heading as GitHub makes it, so that links work there too. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

function plainText(markdown: string): string {
  return markdown
    .replaceAll(/!\[[^[\]]*\]\([^()]*\)/g, ' ')
    .replaceAll(/\]\([^)]*\)/g, ' ')
    .replaceAll(/^```.*$|[`*[\]|]|-{3,}/gm, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** The first words of a text, without code blocks and tables. */
function summarize(markdown: string): string {
  const text = plainText(markdown.replaceAll(/^```[\s\S]*?^```$|^\|.*$/gm, ''))
  return text.length <= MAX_SUMMARY_CHARACTERS
    ? text
    : `${text.slice(0, MAX_SUMMARY_CHARACTERS).replace(/\s\S*$/, '')} …`
}

/** Whether a word of a line begins so, as the search compares: what a title or heading has is found by it. */
const hasBeginning = (line: string, beginning: string): boolean => ` ${line}`.includes(` ${beginning}`)

/** The different words of a text in lower case, without those that begin another one: a search finds beginnings. */
function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/\p{L}[\p{L}\p{N}_]+/gu) ?? []
  const sorted = [...new Set(words)].filter(word => !STOP_WORDS.has(word)).sort()
  return sorted.filter((word, place) => !sorted[place + 1]?.startsWith(word))
}
