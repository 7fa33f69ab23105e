import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin, Server } from '@hapi/hapi'

/** An extension that cannot be used; the message says which of four things went wrong, and what to do. */
export class ExtensionError extends Error {
  override readonly name = 'ExtensionError'
}

const fromSource = import.meta.url.endsWith('.ts')
let hooked = false

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
      if (!specifier.startsWith('tidemark/') && specifier !== 'joi') return next(specifier, context)
      const conditions = fromSource ? [...context.conditions, 'tidemark-source'] : context.conditions
      return next(specifier, { ...context, conditions, parentURL: import.meta.url })
    },
  })
}

/**
 * Imports extensions in order and registers each as a hapi plugin.
 * @param specifiers package names, or paths that start with `.` or `/`, from the working directory
 * @throws ExtensionError saying which of four things went wrong: not installed, threw, no hapi plugin, name taken
 */
export async function loadExtensions(server: Server, specifiers: readonly string[]): Promise<void> {
  resolveHostModules()
  for (const specifier of specifiers) {
    const plugin = pluginOf(specifier, await importExtension(specifier))
    try {
      await server.register(plugin)
    } catch (cause) {
      throw new ExtensionError(`Extension ${specifier} could not be added: ${(cause as Error).message}`, {
        cause,
      })
    }
  }
}

async function importExtension(specifier: string): Promise<Record<string, unknown>> {
  const isPath = /^(\.{1,2}\/|\/|file:)/.test(specifier)
  const target = !isPath || specifier.startsWith('file:') ? specifier : pathToFileURL(resolve(specifier)).href
  try {
    return (await import(target)) as Record<string, unknown>
  } catch (cause) {
    const { code, message } = cause as { code?: string; message: string }
    // What stands behind it is who asked, which may be the extension itself.
    const [what = ''] = message.split(' imported from ')
    const missing =
      code === 'ERR_MODULE_NOT_FOUND' && what.includes(isPath ? target.replace('file://', '') : specifier)
    throw new ExtensionError(
      missing
        ? isPath
          ? `Extension ${specifier} is not there: correct the path in EXTENSIONS`
          : `Extension ${specifier} is not installed: run npm install ${specifier}, or correct EXTENSIONS`
        : `Extension ${specifier} threw while it was loaded: ${message}`,
      { cause },
    )
  }
}

function pluginOf(specifier: string, module: Record<string, unknown>): Plugin<undefined> {
  const candidate = (module.plugin ?? module.default) as Partial<Plugin<undefined>> | undefined
  if (typeof candidate?.register === 'function') return candidate as Plugin<undefined>
  throw new ExtensionError(
    `Extension ${specifier} exports no hapi plugin: export { plugin: { name, register(server) } }`,
  )
}
