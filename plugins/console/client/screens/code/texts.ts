export const codeTexts = {
  asCode: 'As code',
  file: 'Monitors file',
  guide: 'Monitors as code',
  apply: 'A monitors file with this check alone. Save it in your repository and run tidemark apply -f FILE.',
  copy: 'Copy the file',
  ofContract: 'A contract manages this: its document is the code.',
  exportSource: 'Export as code',
} as const
