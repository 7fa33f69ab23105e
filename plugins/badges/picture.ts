import { createHash } from 'node:crypto'
import type { ResponseObject, ResponseToolkit } from '@hapi/hapi'
import { makeBadge } from 'badge-maker'
import type { BadgeStatus } from './status.ts'

/** The text on the left of a badge without a label. */
export const DEFAULT_LABEL = 'data quality'

const COLORS: Record<BadgeStatus, string> = { passing: 'brightgreen', failing: 'red', unknown: 'lightgrey' }

/** Characters that XML 1.0 cannot hold, not even as a reference. */
const NON_XML_CHARACTERS = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu

/** An SVG opened by itself is a document: its styles apply, and nothing in it may run or load. */
const CONTENT_SECURITY_POLICY = `default-src 'none'; style-src 'unsafe-inline'; sandbox`

/** What a picture shows; the label defaults to that of badges without one. */
export interface BadgePicture {
  status: BadgeStatus
  label?: string | null
}

export function drawBadge(status: BadgeStatus, label: string | null = null): string {
  const text = (label ?? DEFAULT_LABEL).replaceAll(NON_XML_CHARACTERS, ' ')
  const svg = makeBadge({ label: text, message: status, color: COLORS[status] })
  // No user text in an attribute; screen readers use the title.
  return svg.replace(/ aria-label="[^"]*"/, '')
}

/** Answers with a picture, as all badges do: grey with status 404 if there is none. */
export function answerPicture(h: ResponseToolkit, picture: BadgePicture | undefined): ResponseObject {
  const svg = drawBadge(picture?.status ?? 'unknown', picture?.label)
  const reply = h
    .response(svg)
    .type('image/svg+xml')
    .header('Cache-Control', 'max-age=60')
    .header('Content-Security-Policy', CONTENT_SECURITY_POLICY)
  // No ETag: a cached grey picture of a badge would match it, and the client would get 304 instead of 404.
  if (picture === undefined) return reply.code(404)
  return reply.etag(createHash('sha256').update(svg).digest('base64url').slice(0, 22))
}
