import type { ComponentChildren } from 'preact'
import { ApiError, ConnectionError } from 'tidemark/client'
import { isSignedOut } from '../lib/api.ts'
import type { Data } from '../lib/data.ts'
import { texts } from '../texts.ts'

/** Lines in grey of about the size of what comes. */
export function Skeleton({ rows = 6 }: { rows?: number }) {
  return (
    <div class="skeleton" role="status" aria-label={texts.loading}>
      {Array.from({ length: rows }, (_, n) => (
        <div key={n} />
      ))}
    </div>
  )
}

/** Why something could not be shown, in a sentence for people. */
export function describeError(error: unknown): string {
  if (isSignedOut(error)) return texts.expiredTitle
  if (error instanceof ApiError) {
    return error.status >= 500
      ? `The server failed${error.requestId ? ` (request ${error.requestId})` : ''}.`
      : error.message
  }
  if (error instanceof ConnectionError || !(error instanceof Error)) return texts.noConnection
  return error.message
}

/** What failed, and a button that tries again. An ended session is shown by the frame instead. */
export function Failure({ what, error, retry }: { what: string; error: unknown; retry?: () => void }) {
  if (isSignedOut(error)) return null
  return (
    <div class="failure" role="alert">
      <p>
        <strong>{texts.failedTo(what)}</strong> {describeError(error)}
      </p>
      {retry && <button onClick={retry}>Try again</button>}
    </div>
  )
}

/**
 * What stands where a list has nothing, and what to do about it.
 * @param props.isScreen whether nothing else is on the screen, so that this is its heading
 */
export function Empty({
  title,
  isScreen = false,
  children,
}: {
  title: string
  isScreen?: boolean
  children?: ComponentChildren
}) {
  return (
    <div class="empty">
      {isScreen ? (
        <h1>{title}</h1>
      ) : (
        <p>
          <strong>{title}</strong>
        </p>
      )}{' '}
      {children}
    </div>
  )
}

/** The whole screen in place of a record that is not there, with the way to the others. */
export function MissingPage({
  title,
  href,
  back,
  children,
}: {
  title: string
  /** Where the others are, and what the link says. */
  href: string
  back: string
  children?: ComponentChildren
}) {
  return (
    <div class="page">
      <Empty title={title} isScreen={true}>
        {children}
        <p>
          <a class="button" href={href}>
            {back}
          </a>
        </p>
      </Empty>
    </div>
  )
}

type Render<T> = (data: T) => ComponentChildren

/**
 * Shows data, or that it is loading, or why it is missing. Data that is older than a failed request stays.
 * @param what is loaded, as in "Could not load the alerts"
 * @param rows of the skeleton, or `skeleton` itself where lines have not the size of what comes
 */
export function Loaded<T>({
  of: { data, error, reload },
  what,
  rows,
  skeleton,
  children,
}: {
  of: Data<T>
  what: string
  rows?: number
  skeleton?: ComponentChildren
  children: Render<T> | (Render<T> | string)[]
}) {
  // A template that is formatted on one line has spaces around the function.
  const show = [children].flat().find(child => typeof child === 'function')!
  if (data === undefined)
    return error === undefined ? (
      (skeleton ?? <Skeleton rows={rows} />)
    ) : (
      <Failure what={what} error={error} retry={reload} />
    )
  return (
    <>
      {error !== undefined && <Failure what={what} error={error} retry={reload} />}
      {show(data)}
    </>
  )
}
