import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Plugin, Server } from '@hapi/hapi'
import { DEFAULT_DEADLINES } from './deadlines.ts'
import { adviceOn, type ThrowSite } from './extensions/advice.ts'
import { addedSince, namesIn, type LoadedExtension } from './extensions/loaded.ts'
import { describeMisfit, packageOf, type ExtensionPackage } from './extensions/package.ts'
import { callWithin, DeadlineError } from './with-timeout.ts'

/** An extension that cannot be used; the message says which of four things went wrong, and what to do. */
export class ExtensionError extends Error {
  override readonly name = 'ExtensionError'
}

const fromSource = import.meta.url.endsWith('.ts')
let hooked = false

/** Specifiers imported for EXTENSIONS, and the errors of those that do not exist. */
const requestedExtensions = new Set<string>()
const unresolved = new WeakSet<object>()

/** The packages of extensions that were imported, by specifier. */
const packages = new Map<string, ExtensionPackage | null>()

/**
 * Makes `tidemark/…` mean this very program wherever an extension imports it, so that an error of its
 * connector is an error of ours, even if it has a copy of tidemark of its own. Likewise joi, which refuses
 * schemas of another copy of itself.
 */
export function resolveHostModules(): void {
  if (hooked) return
  hooked = true
  registerHooks({
    resolve(specifier, context, next) {
      if (context.parentURL === import.meta.url && requestedExtensions.has(specifier)) {
        const resolved = resolveExtension(parentURL => next(specifier, { ...context, parentURL }))
        packages.set(specifier, packageOf(resolved.url))
        return resolved
      }
      if (!specifier.startsWith('tidemark/') && specifier !== 'joi') return next(specifier, context)
      const conditions = fromSource ? [...context.conditions, 'tidemark-source'] : context.conditions
      return next(specifier, { ...context, conditions, parentURL: import.meta.url })
    },
  })
}

/** Packages are looked for from the working directory, then from here: either may be where they were installed. */
function resolveExtension<Resolved>(from: (parentURL: string) => Resolved): Resolved {
  try {
    return from(pathToFileURL(resolve('EXTENSIONS')).href)
  } catch (error) {
    if (!isAbsent(error)) throw noted(error)
  }
  try {
    return from(import.meta.url)
  } catch (error) {
    throw noted(error)
  }
}

function noted(error: unknown): unknown {
  unresolved.add(error as object)
  return error
}

function isAbsent(error: unknown): boolean {
  const { code, message } = error as { code?: string; message: string }
  return code === 'ERR_MODULE_NOT_FOUND' && message.startsWith('Cannot find package')
}

/**
 * Imports extensions in order and registers each as a hapi plugin.
 * @param specifiers package names, or paths that start with `.` or `/`, from the working directory
 * @returns what was loaded
 * @throws ExtensionError saying what went wrong: not installed, made for another version, threw, no hapi plugin, not added
 */
export async function loadExtensions(
  server: Server,
  specifiers: readonly string[],
): Promise<LoadedExtension[]> {
  resolveHostModules()
  const { load, register: deadlineMs } = server.deadlines
  const loaded: LoadedExtension[] = []
  for (const specifier of specifiers) {
    const plugin = pluginOf(specifier, await importExtension(specifier, load))
    const before = namesIn(server.vocabularies)
    try {
      await callWithin(deadlineMs, () => server.register(plugin))
    } catch (cause) {
      if (cause instanceof DeadlineError)
        throw notEnded(specifier, 'register', deadlineMs, 'let it wait for nothing that may never come')
      const message = `Extension ${specifier} could not be added: ${await describeThrown(cause)}`
      throw new ExtensionError(message, { cause })
    }
    const { name, version = null } = packages.get(targetOf(specifier)) ?? {}
    loaded.push({
      name: name ?? ('name' in plugin ? plugin.name : plugin.pkg.name),
      version,
      adds: addedSince(before, namesIn(server.vocabularies)),
    })
  }
  return loaded
}

/** Imports extensions without registering them: the command line takes their `commands`. */
export async function importExtensions(specifiers: readonly string[]): Promise<Record<string, unknown>[]> {
  resolveHostModules()
  return Promise.all(specifiers.map(each => importExtension(each, DEFAULT_DEADLINES.load)))
}

/** An import or a registration that never ends would end the process without a word. */
function notEnded(specifier: string, what: string, milliseconds: number, advice: string): ExtensionError {
  return new ExtensionError(
    `Extension ${specifier} did not end ${what} within ${milliseconds / 1_000} s: ${advice}`,
  )
}

async function importExtension(specifier: string, deadlineMs: number): Promise<Record<string, unknown>> {
  const target = targetOf(specifier)
  requestedExtensions.add(target)
  try {
    const imported = await callWithin(
      deadlineMs,
      async () => (await import(target)) as Record<string, unknown>,
    )
    assertFit(specifier)
    return imported
  } catch (cause) {
    if (cause instanceof ExtensionError) throw cause
    // One that was made for another version fails in many ways: this is why.
    assertFit(specifier, cause)
    if (cause instanceof DeadlineError)
      throw notEnded(specifier, 'its import', deadlineMs, 'a top-level await in it never settles')
    const isOwn = typeof cause === 'object' && cause !== null && unresolved.has(cause)
    const problem = isOwn
      ? whyAbsent(specifier, isPath(specifier), cause as Error)
      : `threw while it was loaded: ${await describeThrown(cause)}`
    throw new ExtensionError(`Extension ${specifier} ${problem}`, { cause })
  }
}

const isPath = (specifier: string): boolean => /^(\.{1,2}\/|\/|file:)/.test(specifier)

/** What is imported for a specifier. */
function targetOf(specifier: string): string {
  if (!isPath(specifier) || specifier.startsWith('file:')) return specifier
  return pathToFileURL(resolve(specifier)).href
}

/** @throws ExtensionError if the package of an extension says that it was made for another version */
function assertFit(specifier: string, cause?: unknown): void {
  const misfit = describeMisfit(packages.get(targetOf(specifier)) ?? {})
  if (misfit !== null) throw new ExtensionError(`Extension ${specifier} ${misfit}`, { cause })
}

function whyAbsent(specifier: string, isPath: boolean, error: Error & { code?: string }): string {
  const { code, message } = error
  if (code === 'ERR_UNSUPPORTED_DIR_IMPORT') return 'is a folder: name the file in it, such as index.ts'
  if (isPath) return 'is not there: correct the path in EXTENSIONS'
  if (isAbsent(error)) return `is not installed: run npm install ${specifier}, or correct EXTENSIONS`
  const [, file] = /^Cannot find module '([^']+)'/.exec(message) ?? []
  if (file !== undefined)
    return `is installed, but has no ${file}: run npm run build in it, or install it again`
  return `cannot be imported (${message}): its package.json must say under exports what "." is`
}

/** What was thrown in one line, where it happened, and what to do where that is known. */
async function describeThrown(thrown: unknown): Promise<string> {
  const message = thrown instanceof Error ? thrown.message : `it threw ${JSON.stringify(thrown) ?? 'nothing'}`
  // Node appends the importing file, which the location shows too.
  const [what = ''] = message.split(' imported from ')
  const place = placeOf(thrown)
  const shown = place === null ? '' : ` (${place.path}:${place.line})`
  const isSyntax = thrown instanceof SyntaxError && place === null
  const advice = (await adviceOn(message, place)) ?? (isSyntax ? 'node --check shows where' : undefined)
  return `${what}${shown}${advice === undefined ? '' : `: ${advice}`}`
}

/**
 * The first place in a file that is neither Node's nor ours. Null where the extension was not running:
 * what called this file, such as the command line's library, is not at fault.
 */
function placeOf(thrown: unknown): ThrowSite | null {
  const { stack = '' } = (thrown ?? {}) as { stack?: string }
  const places = stack.matchAll(/(?<=^|\(|at )(file:\/\/[^\s()]+?|\/[^\s():]+):(\d+)(?::\d+)?\)?$/gm)
  for (const [, file = '', line] of places) {
    const path = file.startsWith('file:') ? fileURLToPath(file) : file
    if (path === import.meta.filename) return null
    if (!path.startsWith(ownFolder) && !/\/node_modules\/(@hapi|joi)\//.test(path))
      return { path, line: Number(line) }
  }
  return null
}

const ownFolder = fileURLToPath(new URL('.', import.meta.url))

function pluginOf(specifier: string, module: Record<string, unknown>): Plugin<undefined> {
  const { plugin, default: fallback } = module as { plugin?: unknown; default?: { plugin?: unknown } }
  const candidate = (plugin ?? fallback?.plugin ?? fallback) as Partial<Plugin<undefined>> | undefined
  const { name, pkg } = (candidate ?? {}) as { name?: unknown; pkg?: { name?: unknown } }
  if (typeof candidate?.register === 'function' && (name ?? pkg?.name)) return candidate as Plugin<undefined>
  const lack = typeof candidate?.register === 'function' ? 'a hapi plugin without a name' : 'no hapi plugin'
  throw new ExtensionError(
    `Extension ${specifier} exports ${lack}: export const plugin = { name: 'my-extension', register(server) { … } }`,
  )
}
