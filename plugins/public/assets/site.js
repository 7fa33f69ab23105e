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
  search.hidden = false

  const finder = () => import('/assets/guide-search.js')

  const show = async () => {
    const text = input.value.trim()
    const found = text === '' ? [] : await (await finder()).findSections(text, MAX_RESULTS)
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

  input.addEventListener('focus', async () => (await finder()).loadSections())
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
