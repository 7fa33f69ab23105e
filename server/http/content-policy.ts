import { createHash } from 'node:crypto'

/**
 * The Content-Security-Policy of a page: forbids everything except style sheets and images of this host, and the given
 * sources.
 * @param sources by directive, such as `{ 'connect-src': ["'self'"] }`
 */
export function buildPolicy(sources: Record<string, readonly string[]> = {}): string {
  const all: Record<string, readonly string[]> = {
    'default-src': ["'none'"],
    'img-src': ["'self'"],
    'style-src': ["'self'"],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
    'frame-ancestors': ["'none'"],
    ...sources,
  }
  return Object.entries(all)
    .map(([directive, allowed]) => [directive, ...allowed].join(' '))
    .join('; ')
}

/** The source of an inline style or script, for a policy. */
export function sourceHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
