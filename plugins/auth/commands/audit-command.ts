import {
  CommandError,
  EXIT,
  printResult,
  withCompany,
  withCompanyOption,
  type CommandContribution,
  type CommandOptions,
  type Terminal,
} from '../../../server/cli/command.ts'

export const auditCommand: CommandContribution = {
  name: 'audit',
  define(command, terminal) {
    withCompanyOption(command.description('the audit log of a company').command('verify'))
      .description('verify that the audit log is complete, or show where it breaks')
      .action((options: CommandOptions) => verifyAuditLog(options, terminal))
  },
}

function verifyAuditLog(options: CommandOptions, terminal: Terminal): Promise<void> {
  return withCompany(terminal, options, async (server, { id, name }) => {
    const verdict = await server.plugins.auth.verifyAudit(id)
    const { entries, head_hash: head, broken_at: brokenAt, problem } = verdict
    const state =
      brokenAt !== null
        ? `breaks at entry ${brokenAt}: ${problem}`
        : entries === 0
          ? 'is empty: nothing was done in this company, or its whole log was removed'
          : `is whole: ${entries} entries, the last of hash ${head}`
    printResult(terminal, options, verdict, `The audit log of ${name} ${state}`)
    if (brokenAt !== null) throw new CommandError('Compare it with a backup of the database', EXIT.failed)
  })
}
