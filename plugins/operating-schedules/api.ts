import type { makeOperatingSchedules } from './schedules.ts'

export type { ScheduleUse, ScheduleUser } from './users.ts'

/** What other features may ask of operating schedules, as `server.plugins.operatingSchedules`. */
export type OperatingSchedulesApi = ReturnType<typeof makeOperatingSchedules>

declare module '@hapi/hapi' {
  interface PluginProperties {
    operatingSchedules: OperatingSchedulesApi
  }
}
