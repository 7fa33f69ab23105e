// Runs before the first paint, so that the page does not flash in the other theme. A module would run after it.
try {
  const theme = localStorage.getItem('tidemark.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Storage may be switched off: the system's theme applies.
}
