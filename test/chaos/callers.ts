/** Clients of the API that go on asking, over connections that they keep. */
import http from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

/** Something to ask. */
export interface Call {
  method: string
  path: string
  body?: object
  credential?: string
}

/** What became of all calls. */
export interface Called {
  calls: number
  /** Calls by what came of them when it was no answer below 400: a status, or the code of an error. */
  failures: Record<string, number>
  /** Milliseconds that the longest one took. */
  longest: number
}

/** Callers at work. */
export interface Callers {
  /** Counted so far. */
  called: Called
  /** Ends them, and waits for the answers that are on their way. */
  end(): Promise<Called>
}

/**
 * Starts callers that take the calls in turns.
 * @param pause milliseconds between an answer and the next call of a caller
 */
export function startCallers(
  url: string,
  calls: readonly Call[],
  { callers, pause }: { callers: number; pause: number },
): Callers {
  const called: Called = { calls: 0, failures: {}, longest: 0 }
  let isOver = false
  const one = async (n: number) => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    for (let turn = n; !isOver; turn++) {
      const startedAt = performance.now()
      const came = await ask(agent, url, calls[turn % calls.length]!)
      called.calls += 1
      called.longest = Math.max(called.longest, performance.now() - startedAt)
      if (typeof came === 'string' || came >= 400) called.failures[came] = (called.failures[came] ?? 0) + 1
      await wait(pause)
    }
    agent.destroy()
  }
  const all = Array.from({ length: callers }, (_, n) => one(n))
  return {
    called,
    async end() {
      isOver = true
      await Promise.all(all)
      return called
    },
  }
}

/** @returns the status, or the code of the error */
function ask(
  agent: http.Agent,
  url: string,
  { method, path, body, credential }: Call,
): Promise<number | string> {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const headers = {
    ...(text !== undefined && {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    }),
    ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
  }
  return new Promise(resolve => {
    const fail = (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message)
    http
      .request(`${url}${path}`, { method, agent, headers, timeout: 60_000 }, response => {
        response.resume().once('end', () => resolve(response.statusCode ?? 0))
        response.once('error', fail)
      })
      .once('error', fail)
      .once('timeout', function (this: http.ClientRequest) {
        this.destroy(new Error('no answer within 60 s'))
      })
      .end(text)
  })
}
