import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { root } from '../../../helpers/sources.ts'

/** Returns the JavaScript of the client as the build ships it, by the names of its files. */
export function compileClient(): Map<string, string> {
  const folder = join(root, 'plugins/public/client')
  const sources = readdirSync(folder).filter(name => name.endsWith('.ts'))
  const compilerOptions = {
    target: ts.ScriptTarget.ES2024,
    module: ts.ModuleKind.ESNext,
    rewriteRelativeImportExtensions: true,
    removeComments: true,
  }
  return new Map(
    sources.map(name => [
      name.replace(/\.ts$/, '.js'),
      ts.transpileModule(readFileSync(join(folder, name), 'utf8'), { compilerOptions }).outputText,
    ]),
  )
}
