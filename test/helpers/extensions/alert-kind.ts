import type { Plugin } from '@hapi/hapi'

/** An extension that adds a kind of alert. */
const acme: Plugin<undefined> = {
  name: 'acme',
  register(server) {
    server.plugins.alerts.addKind({
      name: 'acme_quota_exceeded',
      label: 'quota',
      facts: ({ used, allowed }, { fill }) => [['Found', fill`${used} of ${allowed} GB`]],
    })
  },
}

export default acme
