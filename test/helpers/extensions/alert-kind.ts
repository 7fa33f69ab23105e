import type { Plugin } from '@hapi/hapi'

/** An extension that adds a kind of alert. */
const acme: Plugin<undefined> = {
  name: 'acme',
  register(server) {
    server.plugins.alerts.addKind({
      name: 'acme_quota_exceeded',
      label: 'quota',
      symptom: ({ used }) => (used === 0 ? 'connection' : 'volume'),
      facts: ({ used, allowed }, { fill }) => [['Found', fill`${used} of ${allowed} GB`]],
    })
  },
}

export default acme
