/** The commands that keep what is stored safe: changing the secret key, and verifying audit logs. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { answer, CommandError, EXIT, ofCompany, withServer, type Options, type Terminal } from './command.ts'
import { readConfig } from '../settings/config.ts'
import { changeKey, keyFile } from '../security/key-file.ts'
import { rotateSecrets, type Rotation } from '../security/rotate.ts'

/** Adds `settings rotate-secret`. */
export function secretRotation(command: Command, terminal: Terminal): void {
  command
    .description('seal all stored secrets anew with the newest key, beside the running service')
    .option('--json', 'print JSON')
    .action((_options: Options, own: Command) => rotate(own.optsWithGlobals(), terminal))
}

async function rotate(options: Options, terminal: Terminal): Promise<void> {
  const config = readConfig()
  const isKept = config.databaseUrl === undefined && config.secretKey === undefined
  const change = isKept ? await changeKey(resolve(config.dataDir)) : undefined
  try {
    const { rotation, keys } = await withServer(terminal, async server => ({
      rotation: await rotateSecrets(server),
      keys: server.vault.keys.length,
    }))
    assertDone(rotation)
    const from = await change?.end()
    const next = change ? ofFile(keyFile(config.dataDir), from ?? null) : ofSetting(keys)
    const { keyId, resealed } = rotation
    const record = { key_id: keyId, resealed, older_key_ends_at: from ?? null }
    answer(
      terminal,
      options,
      record,
      `Sealed ${resealed} secrets anew; all are sealed with the key ${keyId} now.`,
      next,
    )
  } finally {
    change?.release()
  }
}

function assertDone({ remaining, unopened, resealed }: Rotation): void {
  if (remaining === 0) return
  const lines = unopened.map(({ table, column, id, error }) => `  ${table}.${column} of ${id}: ${error}`)
  const cause =
    unopened.length > 0
      ? `These do not open; bring back the keys that are missing, or enter them again, and run this again:\n${lines.join('\n')}`
      : 'A process still seals with an older key: restart all with the new one in front, and run this again'
  throw new CommandError(
    `Sealed ${resealed} secrets anew, and ${remaining} are left. Keep the older keys. ${cause}`,
    EXIT.failed,
  )
}

function ofFile(file: string, olderEndsAt: Date | null): string {
  return olderEndsAt === null
    ? `${file} holds this key only: keep a copy of it.`
    : `${file} holds the new key and, behind it, the old one: keep a copy of it, and run this again after ` +
        `${olderEndsAt.toISOString()} to take the old one out. Nothing has to be restarted.`
}

function ofSetting(keys: number): string {
  return keys === 1
    ? // At no time does one process seal with a key that another does not have.
      'SECRET_KEY holds one key. To change it, add a comma and a new one (openssl rand -base64 32) behind it, and ' +
        'restart all processes; then put the new one in front, restart all again, and run this again. Where one ' +
        'process is all there is, put it in front at once.'
    : 'Once all processes have run for 15 minutes with the new key in front, take the others out of SECRET_KEY.'
}

/** Adds `audit verify`. */
export function auditCommands(parent: Command, terminal: Terminal): void {
  ofCompany(
    parent.command('verify').description('tell whether the audit log is whole, or where it breaks'),
  ).action((options: Options) =>
    withServer(terminal, async server => {
      const { id: companyId, name } = await server.plugins.auth.findCompany(options.company)
      const found = await server.plugins.auth.verifyAudit(companyId)
      const { entries, head_hash: head, broken_at: brokenAt, problem } = found
      answer(
        terminal,
        options,
        found,
        `The audit log of ${name} ` +
          (brokenAt !== null
            ? `breaks at entry ${brokenAt}: ${problem}`
            : entries === 0
              ? 'is empty: nothing was done in this company, or all of its log was taken away'
              : `is whole: ${entries} entries, the last of hash ${head}`),
      )
      if (brokenAt !== null) throw new CommandError('Compare it with a backup of the database', EXIT.failed)
    }),
  )
}
