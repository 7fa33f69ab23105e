/**
 * A text without the characters at its end that are among some. A regular expression such as `/0+$/` looks from each of them
 * to the end, which takes quadratic time.
 */
export function trimEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}
