declare module 'semver' {
  /** The part of the package that is used; it has no types of its own. */
  const semver: {
    validRange(range: string): string | null
    satisfies(version: string, range: string, options?: { includePrerelease?: boolean }): boolean
  }
  export default semver
}
