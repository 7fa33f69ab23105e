import type { Plugin } from '@hapi/hapi'
import { pruneOnboardingEvents } from './jobs.ts'
import { onboardingRoutes } from './onboarding-routes.ts'
import { forgetDefaultAsset } from './preferences.ts'
import { preferenceRoutes } from './routes.ts'

/** User preferences, and progress in the onboarding tour. */
export const preferences: Plugin<undefined> = {
  name: 'preferences',
  dependencies: ['auth', 'alerts', 'catalog'],
  register(server) {
    Object.assign(server.apiTags, {
      onboarding: 'How far a user got in the product tour.',
      preferences: 'Preferences of a user.',
    })
    server.jobs.add(pruneOnboardingEvents)
    server.plugins.catalog.extendAssets({ forgetAssets: forgetDefaultAsset })
    server.route([...preferenceRoutes, ...onboardingRoutes])
  },
}
