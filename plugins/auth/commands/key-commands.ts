import { Option, type Command } from 'commander'
import {
  printResult,
  withCompany,
  withCompanyOption,
  type CommandContribution,
  type CommandOptions,
  type Terminal,
} from '../../../server/cli/command.ts'
import { futureTime } from '../../../server/cli/option-values.ts'
import { SCOPES, type Scope } from '../../../server/http/access.ts'
import type { AuthApi } from '../api.ts'

interface CreateKeyOptions extends CommandOptions {
  name: string
  scope: Scope
  expiresAt?: Date
}

type PrintedKey = Awaited<ReturnType<AuthApi['listKeys']>>[number]

export const keysCommand: CommandContribution = {
  name: 'keys',
  define(command, terminal) {
    command.description('API keys of a company')
    addCreateKey(command.command('create'), terminal)
    addListKeys(command.command('list'), terminal)
    addRevokeKey(command.command('revoke <id>'), terminal)
  },
}

function addCreateKey(command: Command, terminal: Terminal): void {
  withCompanyOption(command)
    .description('create an API key; it is shown once')
    .requiredOption('--name <name>', 'what it is for')
    .addOption(new Option('--scope <scope>', 'what it may do').choices(SCOPES).makeOptionMandatory())
    .option(
      '--expires-at <time>',
      'when it expires, such as 2030-01-31T00:00:00Z; defaults to never',
      futureTime,
    )
    .action((options: CreateKeyOptions) =>
      withCompany(terminal, options, async (server, company) => {
        const { name, scope, expiresAt } = options
        const input = { companyId: company.id, name, scope, expiresAt }
        const { key, record } = await server.plugins.auth.createKey(input)
        const message = `Created a key of scope ${scope} for ${company.name}, shown once:`
        printResult(terminal, options, { ...record, key }, message, key)
      }),
    )
}

function addListKeys(command: Command, terminal: Terminal): void {
  withCompanyOption(command)
    .description('the API keys, newest first')
    .action((options: CommandOptions) =>
      withCompany(terminal, options, async (server, company) => {
        const records = await server.plugins.auth.listKeys(company.id)
        const header = formatColumns('id', 'key', 'scope', 'state', 'name')
        const lines = records.length > 0 ? [header, ...records.map(formatKey)] : ['There are no keys yet']
        printResult(terminal, options, records, ...lines)
      }),
    )
}

function addRevokeKey(command: Command, terminal: Terminal): void {
  withCompanyOption(command)
    .description('revoke an API key for good')
    .action((id: string, options: CommandOptions) =>
      withCompany(terminal, options, async (server, company) => {
        const record = await server.plugins.auth.revokeKey(company.id, id)
        printResult(terminal, options, record, `Revoked the key ${record.display_key}`)
      }),
    )
}

function formatKey({ id, display_key: key, scope, is_active: isActive, name }: PrintedKey): string {
  return formatColumns(id, key, scope, isActive ? 'active' : 'ended', name)
}

function formatColumns(id: string, key: string, scope: string, state: string, name: string): string {
  return `${id.padEnd(36)}  ${key.padEnd(19)}  ${scope.padEnd(10)}  ${state.padEnd(6)}  ${name}`
}
