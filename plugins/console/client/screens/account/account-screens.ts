import { lazy, type LazyComponent } from '../../parts/lazy.ts'

/** The screens of people who have no session, without the frame. They are loaded when they are opened. */
const SCREENS: Record<string, LazyComponent<object>> = {
  '/register': lazy(async () => (await import('./register.ts')).Register),
  '/forgot': lazy(async () => (await import('./forgot.ts')).ForgotPassword),
  '/reset': lazy(async () => (await import('./reset.ts')).ResetPassword),
  '/invitation': lazy(async () => (await import('./invitation.ts')).Invitation),
}

export const findAccountScreen = (path: string): LazyComponent<object> | undefined => SCREENS[path]
