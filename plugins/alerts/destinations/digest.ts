/** One line of a digest, of at most 300 UTF-16 units, with nothing escaped. */
export interface DigestLine {
  text: string
  /** A page about it; null where there is none. */
  url: string | null
}

/** What happened in one respect. One without lines is left out. */
export interface DigestSection {
  /** `incidents`, `tables`, `late`, `noisy` or `unwatched`. */
  name: string
  title: string
  lines: DigestLine[]
}

/** A digest as parts of a readable message. */
export interface DigestContent {
  /** Its name, as a person chose it. */
  name: string
  /** The period: ISO 8601, UTC. */
  since: string
  until: string
  /** `Weekly digest: 3 incidents, 12 alerts`, at most 200 units. */
  heading: string
  /** What it is about: the period, and of whom. */
  sentence: string
  /** At most five, with at most ten lines each. */
  sections: DigestSection[]
  links: { text: string; url: string }[]
}
