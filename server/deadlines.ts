/**
 * How long code of extensions, and of our own engines and destinations, may take, in milliseconds. Each is longer than
 * what our own need at most, whose limits end them with a better message.
 */
export interface Deadlines {
  /** Importing an extension, whose driver may be large. */
  load: number
  /** Its `register`. */
  register: number
  /** Opening a session at a source, or closing it. */
  connect: number
  /** A connection test. */
  test: number
  /** Reading all tables of a source. The job of a discovery takes an hour at most. */
  introspect: number
  /** Other questions to the catalog of a source, whose statements get up to ten minutes. */
  catalog: number
  /** What a call may take beyond its own limit or beyond the end of its signal. */
  grace: number
  /** One attempt to deliver a message; `post` ends after 30 seconds. */
  deliver: number
  /** A function of a check type or an alert kind that returns a promise. */
  validate: number
}

export const DEFAULT_DEADLINES: Readonly<Deadlines> = {
  load: 30_000,
  register: 10_000,
  connect: 30_000,
  test: 120_000,
  introspect: 1_800_000,
  catalog: 660_000,
  grace: 30_000,
  deliver: 35_000,
  validate: 30_000,
}
