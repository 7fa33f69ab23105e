/* global fetch */
// The search of the documentation, for its pages and for the console.

/** Each section: page, title, id, heading, first words and the other words it contains. */
let sections

/** Loads the index, unless it is there. */
export function loadSections() {
  sections ??= fetch('/assets/search.json')
    .then(reply => reply.json())
    .then(pages => pages.flatMap(([page, title, own]) => own.map(section => [page, title, ...section])))
    .catch(error => {
      sections = undefined
      throw error
    })
  return sections
}

const begins = (text, word) => text.startsWith(word) || text.includes(` ${word}`)

function scoreOf(word, [, title, id, heading, , words]) {
  if (begins(heading.toLowerCase(), word)) return id ? 6 : 8
  if (begins(title.toLowerCase(), word)) return 3
  return begins(words, word) ? 1 : 0
}

/** The sections in which each word of the text begins a word, the best first; a word that is in no section is ignored. */
export async function findSections(text, limit) {
  const all = await loadSections()
  const typed = text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []
  const words = typed.filter(word => all.some(section => scoreOf(word, section) > 0))
  if (words.length === 0) return []
  return all
    .map(section => ({ section, scores: words.map(word => scoreOf(word, section)) }))
    .filter(({ scores }) => !scores.includes(0))
    .map(({ section, scores }) => ({ section, score: scores.reduce((sum, part) => sum + part) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ section: [page, title, id, heading, summary] }) => ({
      href: `/guide/${page}${id && `#${id}`}`,
      name: title === heading ? title : `${title} › ${heading}`,
      summary,
    }))
}
