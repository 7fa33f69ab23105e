import { runCommand } from '../../server/cli/cli.ts'

/** Runs a command in this process, with settings beside those of the environment, and gives what it wrote. */
export async function command(words: readonly string[], settings: Record<string, string> = {}) {
  const before = { ...process.env }
  Object.assign(process.env, { LOG_LEVEL: 'silent', ...settings })
  const text = { out: '', err: '' }
  try {
    const code = await runCommand(words, {
      out: line => (text.out += `${line}\n`),
      err: line => (text.err += `${line}\n`),
      signal: new AbortController().signal,
    })
    return { code, ...text }
  } finally {
    // In place: a module that imported `env` holds this object.
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
    Object.assign(process.env, before)
  }
}
