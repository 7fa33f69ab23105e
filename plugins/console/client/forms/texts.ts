/** The sentences of forms, in English. */
export const formTexts = {
  notNumber: (label: string) => `${label} must be a number.`,
  optional: 'optional',
  more: 'More settings',
  save: 'Save',
  discard: 'Discard changes',
  mendFields: (count: number) => `Fix ${count === 1 ? '1 field' : `${count} fields`}.`,
}
