import { feature } from '../../server/feature.ts'
import { onboardingRoutes } from './onboarding-routes.ts'
import { forgetDefaultAsset } from './preferences.ts'
import { preferenceRoutes } from './routes.ts'

/** User preferences, and progress in the onboarding tour. */
export const preferences = feature({
  name: 'preferences',
  needs: ['auth', 'alerts', 'catalog'],
  tags: {
    preferences: {
      title: 'Preferences',
      group: 'Accounts',
      order: 350,
      description: 'Preferences of a user.',
      page: '/guide/preferences',
    },
    onboarding: {
      title: 'Onboarding',
      group: 'Accounts',
      order: 360,
      description: 'How far a user got in the product tour.',
      page: '/guide/preferences',
    },
  },
  setUp: ({ plugins: { catalog } }) => catalog.extendAssets({ forgetAssets: forgetDefaultAsset }),
  retention: [{ table: 'onboarding_events', column: 'at', days: 90 }],
  routes: [...preferenceRoutes, ...onboardingRoutes],
})
