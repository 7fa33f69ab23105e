import Joi from 'joi'

/** Settings of how the rows of sources are read; see `SETTINGS`. */
export const READING_SETTINGS = {
  STATEMENT_TIMEOUT: {
    group: 'Sources',
    schema: Joi.number().integer().min(1).max(3600).default(60),
    about: 'Seconds after which a statement at a source is cancelled there.',
  },
  PROFILE_ROW_LIMIT: {
    group: 'Sources',
    schema: Joi.number().integer().min(10_000).max(10_000_000_000).default(5_000_000),
    about: 'Rows of a table above which a profile reads a sample of so many rows; 10000 or more.',
  },
  PARTS_FROM_ROWS: {
    group: 'Sources',
    schema: Joi.number().integer().min(0).max(1_000_000_000_000).default(1_000_000),
    about: 'Estimated rows of a table from which parts of it that did not change are not read again.',
  },
  PARTS_RESCAN_DAYS: {
    group: 'Sources',
    schema: Joi.number().integer().min(1).max(90).default(7),
    about: 'Days after which parts that did not change are read again all the same, and compared.',
  },
} satisfies Record<string, { group: string; schema: Joi.Schema; about: string }>
