/* global document, fetch, getSelection, location, navigator */
// Search and copy buttons. Everything else works without scripts.

for (const pre of document.querySelectorAll('pre:not(.reply)')) {
  const button = document.createElement('button')
  button.textContent = 'Copy'
  button.className = 'copy'
  button.addEventListener('click', async () => {
    // Browsers have the clipboard for HTTPS and localhost only.
    if (navigator.clipboard) await navigator.clipboard.writeText(pre.textContent)
    else {
      getSelection().selectAllChildren(pre)
      document.execCommand('copy')
    }
    button.textContent = 'Copied'
    setTimeout(() => (button.textContent = 'Copy'), 2_000)
  })
  const snippet = document.createElement('div')
  snippet.className = 'snippet'
  pre.replaceWith(snippet)
  snippet.append(pre, button)
}

// What scrolls is reached by keyboard, in every browser.
for (const box of document.querySelectorAll('pre, .table-box'))
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0

const search = document.querySelector('search')
if (search) {
  const [input, status, list] = search.children
  const MAX_RESULTS = 12
  let sections
  search.hidden = false

  const load = async () => {
    sections ??= fetch(search.dataset.index).then(reply => reply.json())
    return sections
  }

  const begins = (text, word) => text.startsWith(word) || text.includes(` ${word}`)
  const scoreOf = (word, [, title, id, heading, , words]) => {
    if (begins(heading.toLowerCase(), word)) return id ? 6 : 8
    if (begins(title.toLowerCase(), word)) return 3
    return begins(words, word) ? 1 : 0
  }

  /** The sections in which each word of the query begins a word; a word that is in no section is ignored. */
  const find = async text => {
    const all = await load()
    const typed = text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []
    const words = typed.filter(word => all.some(section => scoreOf(word, section) > 0))
    if (words.length === 0) return []
    return all
      .map(section => ({ section, scores: words.map(word => scoreOf(word, section)) }))
      .filter(({ scores }) => !scores.includes(0))
      .map(({ section, scores }) => ({ section, score: scores.reduce((sum, part) => sum + part) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, MAX_RESULTS)
      .map(({ section: [page, title, id, heading, summary] }) => ({
        href: `/api/public/docs/${page}.md${id && `#${id}`}`,
        name: title === heading ? title : `${title} › ${heading}`,
        summary,
      }))
  }

  const show = async () => {
    const text = input.value.trim()
    const found = text === '' ? [] : await find(text)
    if (text !== input.value.trim()) return
    list.hidden = text === ''
    status.textContent = text === '' ? '' : `${found.length || 'No'} results`
    const items = found.map(({ href, name, summary }) => {
      const link = document.createElement('a')
      link.href = href
      const title = document.createElement('b')
      title.textContent = name
      link.append(title, summary)
      const item = document.createElement('li')
      item.append(link)
      return item
    })
    if (items.length === 0) {
      const item = document.createElement('li')
      item.textContent = 'No results. Try fewer or shorter words.'
      items.push(item)
    }
    list.replaceChildren(...items)
  }

  const clear = () => {
    input.value = ''
    list.hidden = true
  }

  input.addEventListener('focus', load)
  input.addEventListener('input', show)
  list.addEventListener('click', clear)
  search.addEventListener('keydown', event => {
    const links = [...list.querySelectorAll('a')]
    const place = links.indexOf(document.activeElement)
    if (event.key === 'Escape') clear()
    else if (event.key === 'Enter' && place < 0 && links[0]) location.assign(links[0].href)
    else if (event.key === 'ArrowDown') (links[place + 1] ?? links[0])?.focus()
    else if (event.key === 'ArrowUp') (links[place - 1] ?? input).focus()
    else return
    if (event.key !== 'Enter' || place < 0) event.preventDefault()
  })
  search.addEventListener('focusout', ({ relatedTarget }) => {
    if (!search.contains(relatedTarget)) list.hidden = true
  })
  document.addEventListener('keydown', event => {
    if (event.key !== '/' || event.target.closest('input, textarea, [contenteditable]')) return
    event.preventDefault()
    input.focus()
  })
}
