import type { Preferences } from './session.ts'

/** Shows the pages in a theme, and remembers it for the first paint of the next page. */
export function applyTheme(theme: Preferences['theme']): void {
  const { dataset } = document.documentElement
  if (theme === 'system') delete dataset.theme
  else dataset.theme = theme
  try {
    if (theme === 'system') localStorage.removeItem('tidemark.theme')
    else localStorage.setItem('tidemark.theme', theme)
  } catch {
    // Without storage the theme comes with the preferences, after the first paint.
  }
  dispatchEvent(new Event('tidemark:theme'))
}
