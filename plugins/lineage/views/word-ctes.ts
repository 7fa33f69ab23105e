import type { Word } from './sql-words.ts'

/** Where the CTEs of a text begin to be known, in lower case, and their bodies by the place of the opening bracket. */
interface FoundCtes {
  known: Map<number, string[]>
  bodies: Map<number, string>
}

/**
 * Finds what WITH names. A CTE is known behind its own body; those of a recursive WITH are in all of their bodies.
 * @param isAlwaysRecursive whether RECURSIVE changes nothing
 */
export function findCtes(words: readonly Word[], isAlwaysRecursive: boolean): FoundCtes {
  const closings = findClosings(words)
  const found: FoundCtes = { known: new Map(), bodies: new Map() }
  const keywordAt = (at: number) => {
    const word = words[at]
    return word && !word.isName ? word.text.toLowerCase() : undefined
  }
  for (const [at] of words.entries()) {
    if (keywordAt(at) !== 'with') continue
    const isKeyword = keywordAt(at + 1) === 'recursive' && !['as', '('].includes(keywordAt(at + 2) ?? '')
    const isRecursive = isKeyword || isAlwaysRecursive
    let next = at + (isKeyword ? 2 : 1)
    for (let cte = readCte(next); cte; cte = keywordAt(next) === ',' ? readCte(next + 1) : undefined) {
      found.bodies.set(cte.body, cte.name)
      const place = isRecursive ? at : cte.close
      const same = found.known.get(place)
      if (same) same.push(cte.name)
      else found.known.set(place, [cte.name])
      next = cte.close + 1
    }
  }
  return found

  function readCte(at: number): { name: string; body: number; close: number } | undefined {
    const word = words[at]
    if (!word || (!word.isName && /^\W/.test(word.text))) return undefined
    let body = at + 1
    if (keywordAt(body) === '(') body = (closings.get(body) ?? words.length) + 1
    if (keywordAt(body) !== 'as') return undefined
    body += 1
    if (keywordAt(body) === 'not') body += 1
    if (keywordAt(body) === 'materialized') body += 1
    const close = keywordAt(body) === '(' ? closings.get(body) : undefined
    return close === undefined ? undefined : { name: word.text.toLowerCase(), body, close }
  }
}

/** The places of closing brackets by those of the opening ones. */
function findClosings(words: readonly Word[]): Map<number, number> {
  const closings = new Map<number, number>()
  const open: number[] = []
  for (const [at, { text, isName }] of words.entries()) {
    if (isName) continue
    if (text === '(') open.push(at)
    else if (text === ')') {
      const opening = open.pop()
      if (opening !== undefined) closings.set(opening, at)
    }
  }
  return closings
}
