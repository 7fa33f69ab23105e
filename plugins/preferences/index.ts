import type { Plugin } from '@hapi/hapi'
import { onboardingRoutes } from './onboarding-routes.ts'
import { forgetDefaultAsset } from './preferences.ts'
import { preferenceRoutes } from './routes.ts'
import type { ApiTag } from '../../server/openapi/tags.ts'

/** User preferences, and progress in the onboarding tour. */
export const preferences: Plugin<undefined> = {
  name: 'preferences',
  dependencies: ['auth', 'alerts', 'catalog'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      preferences: {
        title: 'Preferences',
        group: 'Accounts',
        order: 350,
        description: 'Preferences of a user.',
        page: '/api/public/docs/preferences.md',
      },
      onboarding: {
        title: 'Onboarding',
        group: 'Accounts',
        order: 360,
        description: 'How far a user got in the product tour.',
        page: '/api/public/docs/preferences.md',
      },
    } satisfies Record<string, ApiTag>)
    server.retention.push({ table: 'onboarding_events', column: 'at', days: 90 })
    server.plugins.catalog.extendAssets({ forgetAssets: forgetDefaultAsset })
    server.route([...preferenceRoutes, ...onboardingRoutes])
  },
}
