const NAMES: Record<string, string> = { google: 'Google', github: 'GitHub', slack: 'Slack' }

/** The name of a sign-in provider for people; one of the operator's own is called as in the settings. */
export const nameProvider = (provider: string): string => NAMES[provider] ?? provider
