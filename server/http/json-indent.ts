/** Indented JSON for people who read replies in a terminal. */
import type { Request, Server } from '@hapi/hapi'

const INDENT = 2

/**
 * Indents JSON replies, and ends them with a line break, for clients that ask with
 * `Accept: application/json; indent=2`, and for curl, which shows what it gets. A curl that asks for
 * `Accept: application/json` gets one line, as programs do.
 */
export function installJsonIndent(server: Server): void {
  server.ext('onPreResponse', (request, h) => {
    const { response } = request
    if (!('isBoom' in response) && isForPerson(request) && isObject(response.source))
      response.spaces(INDENT).suffix('\n')
    return h.continue
  })
}

function isForPerson({ headers }: Pick<Request, 'headers'>): boolean {
  const { accept = '*/*', 'user-agent': agent = '' } = headers as Record<string, string | undefined>
  return /;\s*indent=\d/.test(accept) || (accept === '*/*' && agent.startsWith('curl/'))
}

/** Text, streams and pictures are sent as they are. */
function isObject(source: unknown): boolean {
  return typeof source === 'object' && source !== null && !Buffer.isBuffer(source) && !('pipe' in source)
}
