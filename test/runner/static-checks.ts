/** Types with lint, which needs them, and formatting: processes that run beside the tests. */
export const STATIC_CHECKS: readonly { name: string; command: readonly string[] }[] = [
  { name: 'types and lint', command: ['npm', 'run', '-s', 'lint'] },
  { name: 'formatting', command: ['npm', 'run', '-s', 'format'] },
]
