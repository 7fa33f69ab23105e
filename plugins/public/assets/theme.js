/* global addEventListener, dispatchEvent, document, Event, localStorage */
// Runs before the first paint, so that the page does not flash in the other theme. A module would run after it.
{
  const KEY = 'tidemark.theme'
  const applyTheme = () => {
    const { dataset } = document.documentElement
    try {
      const theme = localStorage.getItem(KEY)
      if (theme === 'light' || theme === 'dark') dataset.theme = theme
      else delete dataset.theme
    } catch {
      // Storage may be switched off: the system's theme applies.
    }
  }
  applyTheme()
  // The console has changed it in another tab.
  addEventListener('storage', ({ key }) => {
    if (key !== KEY) return
    applyTheme()
    dispatchEvent(new Event('tidemark:theme'))
  })
}
