/** The sentences of forms, in English. */
export const formTexts = {
  required: (label: string) => `${label} is needed.`,
  notNumber: (label: string) => `${label} must be a number.`,
  notInteger: (label: string) => `${label} must be a whole number.`,
  tooSmall: (label: string, least: number) => `${label} must be at least ${least}.`,
  tooLarge: (label: string, most: number) => `${label} must be at most ${most}.`,
  tooLong: (label: string, most: number) => `${label} must have at most ${most} characters.`,
  notJson: (label: string) => `${label} must be JSON.`,
  notPairs: (label: string) => `${label}: write a name, a colon and a value on each line.`,
  optional: 'optional',
  save: 'Save',
  discard: 'Discard changes',
  mendFields: (count: number) => `Mend ${count === 1 ? 'the marked field' : `the ${count} marked fields`}.`,
}
