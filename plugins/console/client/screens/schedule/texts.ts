import { countOf } from '../../lib/format.ts'

/** The sentences of the screen of operating schedules, in English. */
export const scheduleTexts = {
  title: 'Operating schedules',
  summary: (count: number) => `${countOf(count, 'operating schedule')}`,
  about:
    'When tables are meant to be active. Rules that refer to a schedule learn these hours apart from the others.',
  add: 'Add a schedule',
  name: 'Name',
  zone: 'Time zone',
  hours: 'Hours',
  gridHint:
    'Click or drag over hours. With the keyboard: arrow keys move, Space switches an hour, Shift with an arrow key goes on.',
  states: { all: 'active', some: 'partly active', none: 'quiet' },
  nextDay: 'An end at or before the start is on the next day.',
  periodsHint: 'The same hours as times, to the minute. An end at or before the start is on the next day.',
  periods: 'Periods',
  days: 'Days',
  start: 'Start',
  end: 'End',
  removePeriod: (number: number) => `Take out period ${number}`,
  noDays: 'Choose at least one day.',
  badStart: 'The start must be a time from 00:00 to 23:59.',
  badEnd: 'The end must be a time from 00:00 to 24:00.',
  activeHours: (hours: string) => `${hours} hours a week`,
  uses: 'Used by',
  remove: 'Delete this schedule',
  removeText: (name: string) => `${name} is deleted. This cannot be undone.`,
  saved: 'Saved.',
}
