import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { createRequire } from 'node:module'
import { extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access, routesOf } from '../../server/http/access.ts'
import { apiError } from '../../server/http/errors.ts'
import { packageRoot } from '../../server/settings/config.ts'

/** The sources of a clone, or what the build made of them: both end in the extension of this file. */
const EXTENSION = extname(import.meta.url)
const clientFolder = fileURLToPath(new URL('./client', import.meta.url))
const apiClientFolder = fileURLToPath(new URL('../public/client', import.meta.url))
const assetsFolder = join(packageRoot, 'plugins/console/assets')
/** What the console shares with pages that stay without it: the tokens and the theme before the first paint. */
const sharedFolder = join(packageRoot, 'plugins/public/assets')
const SHARED = ['tokens.css', 'theme.js']
const TYPES: Record<string, string> = { '.css': 'text/css', '.svg': 'image/svg+xml' }

/** Packages that the browser loads, by the names that modules import. */
const resolve = createRequire(import.meta.url).resolve
const packageFolder = (name: string) => resolve(name).replace(new RegExp(`(node_modules/${name}/).*$`), '$1')
const PACKAGES: Record<string, string> = {
  preact: fileURLToPath(import.meta.resolve('preact')),
  'preact/hooks': fileURLToPath(import.meta.resolve('preact/hooks')),
  htm: fileURLToPath(import.meta.resolve('htm')),
  uplot: join(packageFolder('uplot'), 'dist/uPlot.esm.js'),
}

/** The path that a file is served at, below the version, and the file. */
const files = new Map<string, string>([
  ...listFolder('client', clientFolder, [EXTENSION]),
  ...listFolder('api', apiClientFolder, [EXTENSION]),
  ...listFolder('assets', assetsFolder, ['.css', '.js', '.svg']),
  ...SHARED.map(name => [`assets/${name}`, join(sharedFolder, name)] as const),
  ...Object.entries(PACKAGES).map(([name, file]) => [`packages/${name}.js`, file] as const),
  ['assets/uplot.css', join(packageFolder('uplot'), 'dist/uPlot.min.css')],
])

function listFolder(at: string, folder: string, extensions: readonly string[]): [string, string][] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => extensions.includes(extname(name)) && !name.endsWith('.d.ts'))
    .sort()
    .map(name => [`${at}/${relative(folder, join(folder, name)).replaceAll('\\', '/')}`, join(folder, name)])
}

/** The texts of the files, read once: one that is replaced on disk must not be served under the address of the old. */
const texts = new Map([...files].map(([path, file]) => [path, readFileSync(file, 'utf8')]))

/** A hash of all files. It is part of their addresses, so browsers may cache them without an expiry. */
const version = (() => {
  const hash = createHash('sha256')
  for (const [path, text] of texts) hash.update(path).update('\0').update(text)
  return hash.digest('base64url').slice(0, 16)
})()

/** The address of a file of the console. @param path such as `assets/console.css` */
export function fileAddress(path: string): string {
  if (!files.has(path)) throw new Error(`The console has no file ${path}`)
  return `/console/files/${version}/${path}`
}

/** The address of a module of the client. @param name without its extension: `main` */
export function moduleAddress(name: string): string {
  return fileAddress(`client/${name}${EXTENSION}`)
}

/** What modules import by names instead of paths, as an import map in JSON. */
export const importMap = JSON.stringify({
  imports: {
    ...Object.fromEntries(Object.keys(PACKAGES).map(name => [name, fileAddress(`packages/${name}.js`)])),
    'tidemark/client': fileAddress(`api/index${EXTENSION}`),
  },
})

const IMPORT = /^(?:import|export)\s(?!type\b)[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'/gm

/**
 * The addresses of all modules that a module loads at once, itself included, for `modulepreload`: without them a browser
 * finds an import only when it has read the module that has it.
 */
export function preloadAddresses(name: string): string[] {
  const seen = new Set<string>()
  const visit = (path: string) => {
    if (seen.has(path) || !files.has(path)) return
    seen.add(path)
    for (const [, from, bare] of texts.get(path)!.matchAll(IMPORT)) {
      const to = from ?? bare ?? ''
      if (to in PACKAGES) visit(`packages/${to}.js`)
      else if (to === 'tidemark/client') visit(`api/index${EXTENSION}`)
      else visit(new URL(to, `file:///${path}`).pathname.slice(1))
    }
  }
  visit(`client/${name}${EXTENSION}`)
  return [...seen].map(fileAddress)
}

const contents = new Map<string, string>()
const compressed = new Map<string, Buffer>()

/** A file compressed once: a first visit asks for some forty, which hapi would compress each time. */
function compress(path: string): Buffer {
  const content = compressed.get(path) ?? gzipSync(readContent(path), { level: 9 })
  compressed.set(path, content)
  return content
}

/** A file as it is sent to the browser: TypeScript without its types. */
function readContent(path: string): string {
  const text = texts.get(path)!
  const content = contents.get(path) ?? (path.endsWith('.ts') ? stripTypes(text) : text)
  contents.set(path, content)
  return content
}

/** By Node's own stripper, which warns once that it may change; its version is pinned. */
function stripTypes(text: string): string {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return nodeModule.stripTypeScriptTypes(text, { mode: 'strip' })
  } finally {
    process.emitWarning = emitWarning
  }
}

const typed = (contentType: string) => Joi.string().meta({ contentType })

/** Serves the modules and style sheets of the console. */
export function moduleRoute(): ServerRoute {
  return routesOf('console')('GET', '/console/files/{version}/{path*}', access.open, {
    id: 'getConsoleFile',
    description: 'A file of the console',
    notes: 'Its pages load it; programs do not need it. The address changes with the content.',
    validate: {
      params: Joi.object({
        version: Joi.string().max(100).description('A hash of all files of the console.'),
        path: Joi.string().max(200).description('A file of it.'),
      }),
    },
    app: { path: '/console/files/{version}/{path}', errors: ['NOT_FOUND'] },
    response: {
      status: {
        200: Joi.alternatives(
          typed('text/javascript'),
          ...Object.values(TYPES).map(contentType => typed(contentType)),
        ).description('The file'),
      },
      sample: 0,
    },
    handler(request, h) {
      const { version: asked, path } = request.params as { version: string; path: string }
      // Modules of two versions must not meet in one page.
      if (asked !== version || !files.has(path))
        throw apiError('NOT_FOUND', 'The console has no such file in this version: reload the page')
      const isCompressed = request.info.acceptEncoding === 'gzip'
      const response = h
        .response(isCompressed ? compress(path) : readContent(path))
        .type(TYPES[extname(path)] ?? 'text/javascript')
        .header('Cache-Control', 'public, max-age=31536000, immutable')
        .vary('Accept-Encoding')
      return isCompressed ? response.header('Content-Encoding', 'gzip') : response
    },
  })
}
