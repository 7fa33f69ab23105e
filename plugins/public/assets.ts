import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi'
import { packageRoot } from '../../server/settings/config.ts'

/** Pages of the documentation name pictures by `pictures/`, so that they are shown on GitHub too. */
const FOLDERS = ['plugins/public/assets', 'plugins/public/docs/pictures'].map(path => join(packageRoot, path))
const TYPES: Record<string, string> = {
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
}

/** The first characters of the SHA-256 of a content: its version, and its ETag. */
export function contentTag(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 16)
}

interface Asset {
  content: string | Buffer
  tag: string
}

/** The style sheet, scripts, icons and pictures of our pages, by file name. */
const files = new Map(
  FOLDERS.flatMap(folder =>
    readdirSync(folder).map(name => {
      const content = readFileSync(join(folder, name))
      return [name, { content, tag: contentTag(content) } satisfies Asset] as const
    }),
  ),
)
export const assetNames: readonly string[] = [...files.keys()]

/** The address of an asset; it changes with the content, so that browsers may keep what they have. */
export function assetPath(name: string): string {
  return `/assets/${name}?v=${files.get(name)?.tag}`
}

/** Replies with an asset: for good if the address names its version, and otherwise to be compared at each use. */
export function sendAsset(
  request: Request,
  h: ResponseToolkit,
  name: string,
  asset: Asset | undefined = files.get(name),
): ResponseObject {
  const { content, tag } = asset as Asset
  const isVersioned = request.query.v === tag
  return h
    .response(content)
    .type(TYPES[extname(name)] ?? 'application/octet-stream')
    .etag(tag)
    .header('Cache-Control', isVersioned ? 'public, max-age=31536000, immutable' : 'no-cache')
}
