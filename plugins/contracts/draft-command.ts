/** The command `contracts draft`. */
import type { Command } from 'commander'
import { withClient, withRemoteOptions, type ClientOptions } from '../../server/cli/client.ts'
import { withCompanyOption, type Terminal } from '../../server/cli/command.ts'
import { withoutControls } from '../../server/cli/terminal-text.ts'

const HELP = `
<table> is a qualified name, <source>.<database>.<schema>.<table>, or an id; a source gives a contract of its tables.
Types, keys and descriptions come from the catalog, tags become the classification, the checks that there are become
quality rules and service levels, and what all rows keep in the latest profile is promised too.

  tidemark contracts draft shop.shop.public.orders > orders.odcs.yaml`

/** Adds the command to its group. */
export function defineDraft(group: Command, terminal: Terminal): void {
  withRemoteOptions(withCompanyOption(group.command('draft <table>')))
    .description('write a contract from the catalog and the checks of a table, in YAML')
    .option('--pure', 'leave out the custom properties of this service')
    .addHelpText('after', HELP)
    .action((table: string, options: ClientOptions & { pure?: true }) =>
      withClient(options, terminal.signal, async client => {
        const mode = options.pure ? 'odcs-pure' : 'extended'
        const path = `/sdk/assets/${encodeURIComponent(table)}/contract-draft?mode=${mode}`
        const { body } = await client.request<{ data: { contract: string } }>('GET', path, terminal.signal)
        if (options.json) terminal.out(JSON.stringify(body.data, null, 2))
        else for (const line of body.data.contract.trimEnd().split('\n')) terminal.out(withoutControls(line))
      }),
    )
}
