import { lazy, type LazyComponent } from '../../parts/lazy.tsx'

/** The screens of people who have no session, without the frame. They are loaded when they are opened. */
const SCREENS: Record<string, LazyComponent<object>> = {
  '/register': lazy(async () => (await import('./register.tsx')).Register),
  '/forgot': lazy(async () => (await import('./forgot.tsx')).ForgotPassword),
  '/reset': lazy(async () => (await import('./reset.tsx')).ResetPassword),
  '/invitation': lazy(async () => (await import('./invitation.tsx')).Invitation),
}

export const findAccountScreen = (path: string): LazyComponent<object> | undefined => SCREENS[path]
