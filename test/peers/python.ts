import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const CACHE = join(import.meta.dirname, '../../node_modules/.cache/peers')
const INSTALL_TIMEOUT_MS = 600_000

/**
 * A Python with packages of PyPI, as `name==version`, in an environment of its own that is kept for the next time.
 * @param replaced packages that take the place of installed ones, without what they need
 * @returns the path of its interpreter
 * @throws Error that says what is missing on this machine
 */
export async function pythonWith(
  packages: readonly string[],
  replaced: readonly string[] = [],
): Promise<string> {
  const all = [...packages, ...replaced]
  const hash = createHash('sha256').update(JSON.stringify(all)).digest('hex').slice(0, 16)
  const home = join(CACHE, hash)
  const interpreter = join(home, 'bin', 'python')
  // Only what was made whole has its mark; it is made at its own place, since environments cannot be moved.
  const mark = join(home, 'ready')
  if (await exists(mark)) return interpreter
  await mkdir(CACHE, { recursive: true })
  await rm(home, { recursive: true, force: true })
  await say('python3 with its module venv', run('python3', ['-m', 'venv', home]))
  const install = async (...options: readonly string[]) =>
    say(
      `a package index that has ${all.join(' and ')}`,
      run(interpreter, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...options], {
        timeout: INSTALL_TIMEOUT_MS,
      }),
    )
  await install(...packages)
  if (replaced.length > 0) await install('--no-deps', ...replaced)
  await mkdir(`${mark}.new`)
  await rename(`${mark}.new`, mark)
  return interpreter
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

async function say(needed: string, doing: Promise<unknown>): Promise<void> {
  try {
    await doing
  } catch (cause) {
    const { stderr = '' } = cause as { stderr?: string }
    const reason = stderr.trim().split('\n').at(-1) ?? ''
    throw new Error(`The peer needs ${needed}: ${reason || (cause as Error).message}`, { cause })
  }
}
