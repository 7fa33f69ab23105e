import type { makeBadges } from './badges.ts'

export type BadgesApi = ReturnType<typeof makeBadges>

declare module '@hapi/hapi' {
  interface PluginProperties {
    badges: BadgesApi
  }
}
