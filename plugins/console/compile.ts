import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** As the build does it: `client/tsconfig.json`. */
const OPTIONS = {
  format: 'esm',
  target: 'es2024',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
} as const

/** Whether a file must be compiled before a browser can run it; those of the package are. */
export const isSource = (path: string): boolean => /\.tsx?$/.test(path)

/** What decides how modules are compiled, besides their texts: part of their version. */
export function compilerVersion(): string {
  const esbuild = fileURLToPath(import.meta.resolve('esbuild/package.json'))
  return readFileSync(esbuild, 'utf8') + JSON.stringify(OPTIONS)
}

/** Compiles the modules of a clone, each by itself, and ends the process that does so. */
export async function compile(modules: ReadonlyMap<string, string>): Promise<Map<string, string>> {
  // Only who works on the sources has it.
  const { stop, transform } = await import('esbuild')
  const compiled = [...modules].map(async ([path, text]) => {
    const { code } = await transform(text, {
      ...OPTIONS,
      sourcefile: path,
      loader: path.endsWith('x') ? 'tsx' : 'ts',
    })
    return [path, code] as const
  })
  try {
    return new Map(await Promise.all(compiled))
  } finally {
    await stop()
  }
}
