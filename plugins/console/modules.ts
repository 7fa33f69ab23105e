import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access, routesOf } from '../../server/http/access.ts'
import { apiError } from '../../server/http/errors.ts'
import { packageRoot } from '../../server/settings/config.ts'
import { compile, compilerVersion, isSource } from './compile.ts'

/** The sources of a clone, or what the build made of them: this file is one of them. */
const EXTENSIONS = isSource(import.meta.url) ? ['.ts', '.tsx'] : ['.js']
const clientFolder = fileURLToPath(new URL('./client', import.meta.url))
const apiClientFolder = fileURLToPath(new URL('../public/client', import.meta.url))
const assetsFolder = join(packageRoot, 'plugins/console/assets')
/** What the console shares with pages that stay without it: the tokens and the theme before the first paint. */
const sharedFolder = join(packageRoot, 'plugins/public/assets')
const SHARED = ['tokens.css', 'theme.js']
const TYPES: Record<string, string> = { '.css': 'text/css', '.svg': 'image/svg+xml' }

/** What the compiler writes into modules with elements: it is not in their sources. */
const JSX_RUNTIME = 'preact/jsx-runtime'

/** Packages that the browser loads, by the names that modules import. */
const resolve = createRequire(import.meta.url).resolve
const packageFolder = (name: string) => resolve(name).replace(new RegExp(`(node_modules/${name}/).*$`), '$1')
const PACKAGES: Record<string, string> = {
  preact: fileURLToPath(import.meta.resolve('preact')),
  'preact/hooks': fileURLToPath(import.meta.resolve('preact/hooks')),
  [JSX_RUNTIME]: fileURLToPath(import.meta.resolve(JSX_RUNTIME)),
  uplot: join(packageFolder('uplot'), 'dist/uPlot.esm.js'),
}

/** The path that a file is served at, below the version, and the file. */
const files = new Map<string, string>([
  ...listFolder('client', clientFolder, EXTENSIONS),
  ...listFolder('api', apiClientFolder, EXTENSIONS),
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

/** Those that are compiled before they are sent. */
const sources = new Map([...texts].filter(([path]) => isSource(path)))

/** A hash of all files. It is part of their addresses, so browsers may cache them without an expiry. */
const version = (() => {
  const hash = createHash('sha256')
  for (const [path, text] of texts) hash.update(path).update('\0').update(text)
  if (sources.size > 0) hash.update(compilerVersion())
  return hash.digest('base64url').slice(0, 16)
})()

/** The address of a file of the console. @param path such as `assets/console.css` */
export function fileAddress(path: string): string {
  if (!files.has(path)) throw new Error(`The console has no file ${path}`)
  return `/console/files/${version}/${path}`
}

/** The path of a module, named without its extension: `client/main`. */
function modulePath(name: string): string {
  return EXTENSIONS.map(extension => name + extension).find(path => files.has(path)) ?? name
}

/** The address of a module of the client. @param name without its extension: `main` */
export function moduleAddress(name: string): string {
  return fileAddress(modulePath(`client/${name}`))
}

/** What modules import by names instead of paths, as an import map in JSON. */
export const importMap = JSON.stringify({
  imports: {
    ...Object.fromEntries(Object.keys(PACKAGES).map(name => [name, fileAddress(`packages/${name}.js`)])),
    'tidemark/client': fileAddress(modulePath('api/index')),
  },
})

const IMPORT = /^(?:import|export)\s(?!type\b)[^'"]*?from\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]/gm

/**
 * The addresses of all modules that a module loads at once, itself included, for `modulepreload`: without them a browser
 * finds an import only when it has read the module that has it.
 */
export function preloadAddresses(name: string): string[] {
  const seen = new Set<string>()
  const visit = (path: string) => {
    if (seen.has(path) || !files.has(path)) return
    seen.add(path)
    if (path.endsWith('.tsx')) visit(`packages/${JSX_RUNTIME}.js`)
    for (const [, from, bare] of texts.get(path)!.matchAll(IMPORT)) {
      const to = from ?? bare ?? ''
      if (to in PACKAGES) visit(`packages/${to}.js`)
      else if (to === 'tidemark/client') visit(modulePath('api/index'))
      else visit(new URL(to, `file:///${path}`).pathname.slice(1))
    }
  }
  visit(modulePath(`client/${name}`))
  return [...seen].map(fileAddress)
}

let compiled: Promise<Map<string, string>> | undefined
const compressed = new Map<string, Buffer>()

/** A file compressed once: a first visit asks for some forty, which hapi would compress each time. */
async function compress(path: string): Promise<Buffer> {
  const content = compressed.get(path) ?? gzipSync(await readContent(path), { level: 9 })
  compressed.set(path, content)
  return content
}

/** A file as it is sent to the browser. The first one that is a source has all of them compiled. */
async function readContent(path: string): Promise<string> {
  if (!sources.has(path)) return texts.get(path)!
  compiled ??= compile(sources)
  return (await compiled).get(path)!
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
    async handler(request, h) {
      const { version: asked, path } = request.params as { version: string; path: string }
      // Modules of two versions must not meet in one page.
      if (asked !== version || !files.has(path))
        throw apiError('NOT_FOUND', 'The console has no such file in this version: reload the page')
      const isCompressed = request.info.acceptEncoding === 'gzip'
      const response = h
        .response(await (isCompressed ? compress(path) : readContent(path)))
        .type(TYPES[extname(path)] ?? 'text/javascript')
        .header('Cache-Control', 'public, max-age=31536000, immutable')
        .vary('Accept-Encoding')
      return isCompressed ? response.header('Content-Encoding', 'gzip') : response
    },
  })
}
