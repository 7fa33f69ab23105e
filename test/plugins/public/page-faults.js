/* global document, getComputedStyle, Node */
/*
 * What is wrong with a page, as sentences: `faults.contrast()` and the others, run inside the browser.
 */
globalThis.faults = { contrast: contrastFaults, structure: structureFaults, focus: focusFaults }

/** Texts that are hard to read on what is behind them: less than 4.5 to 1, or 3 to 1 for large ones (WCAG 2.2, 1.4.3). */
function contrastFaults() {
  const numbers = colour => (colour.match(/[\d.]+/g) ?? []).map(Number)
  const luminance = colour => {
    const [red = 0, green = 0, blue = 0] = numbers(colour).map(part => {
      const share = part / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const behind = element => {
    const { backgroundColor } = getComputedStyle(element)
    if (numbers(backgroundColor)[3] !== 0) return backgroundColor
    return element.parentElement ? behind(element.parentElement) : 'rgb(255, 255, 255)'
  }
  const faults = []
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE)
    const text = own.map(({ textContent }) => textContent?.trim() ?? '').join(' ')
    if (text.trim() === '' || element.matches('script, style')) continue
    const { color, fontSize, fontWeight } = getComputedStyle(element)
    const [light = 0, dark = 0] = [luminance(color), luminance(behind(element))].sort((a, b) => b - a)
    const ratio = (light + 0.05) / (dark + 0.05)
    const size = parseFloat(fontSize)
    const isLarge = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700)
    if (ratio < (isLarge ? 3 : 4.5)) faults.push(`${text}: ${ratio.toFixed(2)} to 1`)
  }
  return faults
}

/** What keeps a screen reader from finding its way. */
function structureFaults() {
  const count = selector => document.querySelectorAll(selector).length
  const faults = []
  if (document.documentElement.lang === '') faults.push('no language')
  if (document.title === '') faults.push('no title')
  if (count('h1') !== 1) faults.push(`${count('h1')} headings of the first level`)
  if (count('main') !== 1) faults.push(`${count('main')} main parts`)
  const levels = [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map(({ tagName }) =>
    Number(tagName[1]),
  )
  levels.forEach((level, place) => {
    if (level > (levels[place - 1] ?? 0) + 1)
      faults.push(`a heading of level ${level} after one of ${levels[place - 1] ?? 0}`)
  })
  for (const element of document.querySelectorAll('a, button, input:not([type=hidden])')) {
    const name = element.getAttribute('aria-label') ?? element.textContent ?? ''
    if (name.trim() === '') faults.push(`without a name: ${element.outerHTML}`)
  }
  for (const element of document.querySelectorAll(
    'body *:not(main *, main, script, header, header *, nav, nav *)',
  )) {
    faults.push(`outside every landmark: ${element.outerHTML}`)
  }
  // Links in sentences may be as high as their line (WCAG 2.2, 2.5.8).
  const small = [...document.querySelectorAll('a:not(:is(p, td, .docs li) > a), button')].filter(
    element => element.checkVisibility() && element.getBoundingClientRect().height < 24,
  )
  faults.push(...small.map(element => `less than 24 pixels high: ${element.outerHTML}`))
  return faults
}

/** What is wrong with how the focused element shows that it is. */
function focusFaults() {
  const element = document.activeElement
  if (!element || element === document.body) return ['nothing has the focus']
  const { outlineStyle, outlineWidth } = getComputedStyle(element)
  const isSeen = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2
  return isSeen ? [] : [`no outline: ${element.outerHTML}`]
}
