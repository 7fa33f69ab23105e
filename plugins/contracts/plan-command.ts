/** The command `contracts plan`. */
import type { Command } from 'commander'
import { withClient, withRemoteOptions, type ClientOptions } from '../../server/cli/client.ts'
import { withCompanyOption, type Terminal } from '../../server/cli/command.ts'
import { withoutControls } from '../../server/cli/terminal-text.ts'
import { readTextFile } from '../../server/cli/text-file.ts'

const HELP = `
Says what saving a contract would do, and stores nothing: the checks that it adopts, creates, changes and removes.

  tidemark contracts plan orders.odcs.yaml --source shop --name orders`

interface PlanOptions extends ClientOptions {
  source?: string
  name: string
}

interface Preview {
  message: string
  clauses: { title: string; action: string | null; status: string; reason: string | null }[]
}

/** Adds the command to its group. */
export function definePlan(group: Command, terminal: Terminal): void {
  withRemoteOptions(withCompanyOption(group.command('plan <file>')))
    .description('say what saving a contract would do to checks')
    .requiredOption('--name <name>', 'the name that it is stored by')
    .option('--source <source>', 'the source of a new contract, by name or id')
    .addHelpText('after', HELP)
    .action(async (file: string, options: PlanOptions) => {
      const contract = await readTextFile(file)
      await withClient(options, terminal.signal, async client => {
        const path = `/sdk/contracts/${encodeURIComponent(options.name)}/plan`
        const sent = { contract, ...(options.source !== undefined && { source: options.source }) }
        const { body } = await client.request<{ data: Preview }>('POST', path, terminal.signal, sent)
        if (options.json) terminal.out(JSON.stringify(body.data, null, 2))
        else for (const line of describePlan(body.data)) terminal.out(withoutControls(line))
      })
    })
}

/** One line a check, and one a clause that is not enforced; the sum comes last. */
function describePlan({ message, clauses }: Preview): string[] {
  const lines = clauses.flatMap(({ title, action, status, reason }) => {
    if (action !== null) return `${action}: ${title}`
    return status === 'not_enforced' ? `not enforced: ${title}: ${reason ?? ''}` : []
  })
  return [...lines, `It ${message}.`]
}
