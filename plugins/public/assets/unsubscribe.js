/* global document, fetch, URL */
// Moves the switch in place; without this script, the button sends the form and a new page is shown.
const form = document.querySelector('form')
const button = document.querySelector('button')
const state = document.querySelector('[role=status]')
form.addEventListener('submit', async event => {
  event.preventDefault()
  button.disabled = true
  try {
    const answer = await fetch(form.action, { method: 'POST', headers: { accept: 'application/json' } })
    if (!answer.ok) throw new Error(answer.status)
    const { subscribed } = await answer.json()
    button.setAttribute('aria-checked', String(subscribed))
    state.textContent = subscribed ? form.dataset.on : form.dataset.off
    const next = new URL(form.action)
    next.searchParams.set('action', subscribed ? 'unsubscribe' : 'subscribe')
    form.action = next
  } catch {
    state.textContent = 'That did not work. Please try again in a minute.'
  }
  button.disabled = false
  button.focus()
})
