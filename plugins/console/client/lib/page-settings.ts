/** The server's settings that the page contains. */
export const pageSettings = JSON.parse(
  document.querySelector<HTMLMetaElement>('meta[name=tidemark]')?.content ?? '{}',
) as { providers?: string[]; hasDemo?: boolean; canRegister?: boolean; hasMail?: boolean }
