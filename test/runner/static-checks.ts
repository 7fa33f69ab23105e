/** Types, lint and formatting, as processes that run beside the tests. */
export function staticChecks(): { name: string; command: readonly string[] }[] {
  return [
    { name: 'types', command: ['npm', 'run', '-s', 'typecheck'] },
    { name: 'lint', command: ['npm', 'run', '-s', 'lint'] },
    { name: 'formatting', command: ['npm', 'run', '-s', 'format'] },
  ]
}
