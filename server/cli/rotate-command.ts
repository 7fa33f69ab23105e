import { resolve } from 'node:path'
import type { Command } from 'commander'
import {
  CommandError,
  EXIT,
  printResult,
  withJsonOption,
  withServer,
  type CommandOptions,
  type Terminal,
} from './command.ts'
import { readConfig } from '../settings/config.ts'
import { changeKey, keyFile } from '../security/key-file.ts'
import { rotateSecrets, type Rotation } from '../security/rotate.ts'

export function addRotateCommand(command: Command, terminal: Terminal): void {
  withJsonOption(command)
    .description('encrypt all stored secrets again with the newest key, beside the running service')
    .action((_options: CommandOptions, own: Command) => rotateSecretKey(own.optsWithGlobals(), terminal))
}

async function rotateSecretKey(options: CommandOptions, terminal: Terminal): Promise<void> {
  const config = readConfig()
  const usesKeyFile = config.databaseUrl === undefined && config.secretKey === undefined
  const change = usesKeyFile ? await changeKey(resolve(config.dataDir)) : undefined
  try {
    const { rotation, keys } = await withServer(terminal, async server => ({
      rotation: await rotateSecrets(server),
      keys: server.vault.keys.length,
    }))
    assertAllResealed(rotation)
    const oldKeyEndsAt = (await change?.end()) ?? null
    const advice = change ? keyFileAdvice(keyFile(config.dataDir), oldKeyEndsAt) : keySettingAdvice(keys)
    const { keyId, resealed } = rotation
    const record = { key_id: keyId, resealed, older_key_ends_at: oldKeyEndsAt }
    const message = `Encrypted ${resealed} secrets again; all now use the key ${keyId}.`
    printResult(terminal, options, record, message, advice)
  } finally {
    change?.release()
  }
}

function assertAllResealed({ remaining, unopened, resealed }: Rotation): void {
  if (remaining === 0) return
  const lines = unopened.map(({ table, column, id, error }) => `  ${table}.${column} of ${id}: ${error}`)
  const cause =
    unopened.length > 0
      ? `These cannot be decrypted; add the missing keys again, or enter the secrets again, and repeat this:\n${lines.join('\n')}`
      : 'A process still encrypts with an older key: restart all with the new one in front, and repeat this'
  throw new CommandError(
    `Encrypted ${resealed} secrets again, and ${remaining} are left. Keep the older keys. ${cause}`,
    EXIT.failed,
  )
}

function keyFileAdvice(file: string, oldKeyEndsAt: Date | null): string {
  return oldKeyEndsAt === null
    ? `${file} holds this key only: keep a copy of it.`
    : `${file} holds the new key and, behind it, the old one: keep a copy of it, and run this again after ` +
        `${oldKeyEndsAt.toISOString()} to remove the old one. Nothing has to be restarted.`
}

function keySettingAdvice(keys: number): string {
  return keys === 1
    ? // In this order no process ever encrypts with a key that another process does not have.
      'SECRET_KEY holds one key. To change it, add a comma and a new one (openssl rand -base64 32) behind it, and ' +
        'restart all processes; then put the new one in front, restart all again, and run this again. With a ' +
        'single process, put it in front at once.'
    : 'Once all processes have run for 15 minutes with the new key in front, remove the others from SECRET_KEY.'
}
