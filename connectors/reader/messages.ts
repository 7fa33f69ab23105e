/** What a session asks of its reader process, one request at a time, each answered once. */
export interface ReaderRequest {
  /** `close` has the reader let go of what it has open, before it waits for the next session. */
  type: string
  /** Milliseconds after which the reader ends itself, should its host be gone. */
  timeoutMs?: number
}

/** A failure that crosses the process boundary: an `Error` would lose its code on the way. */
export interface ReaderFailure {
  code: string
  message: string
}

export type ReaderReply = { answer: unknown } | { failure: ReaderFailure }

/** What a reader process runs: the module that `startReader` is given exports it as `backend`. */
export interface ReaderBackend<Request extends ReaderRequest = ReaderRequest> {
  /** May throw or reject with anything that `describe` reads. What it returns is cloned, as between workers. */
  answer(request: Request): unknown
  /** Defaults to the error's own code, else its name. */
  describe?(thrown: unknown): ReaderFailure
}
