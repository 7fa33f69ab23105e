import Joi from 'joi'
import { held } from '../../../server/http/envelopes.ts'
import type { AlertKind } from '../../alerts/api.ts'

/** A test that another tool runs, such as dbt, did not pass, or could not run. */
export const externalCheckFailed: AlertKind = {
  name: 'external_check_failed',
  label: 'external_check',
  title: 'failed dbt test',
  isRechecked: true,
  ruleIdOf: ({ cause }) => cause,
  details: Joi.object({
    tool: Joi.valid('dbt'),
    project: held.text,
    test: held.text.description('The name of the test.'),
    test_type: held.text.allow(null).description('What it is made from: `not_null`.'),
    table_path: held.text.allow(null).description('As the tool names it.'),
    column_name: held.text.allow(null),
    status: Joi.valid('warn', 'fail', 'error').description('`error` means that the test could not run.'),
    failures: held.integer.allow(null).description('How many rows fail, where the tool counts them.'),
    reason: held.text.allow(null),
    run_at: held.time,
  }),
  facts: ({ project, test, column_name: column, failures, reason, run_at: at }, { join }) => [
    ['Test', join([test, project], ' of ')],
    ['Column', column],
    ['Failures', failures],
    ['Reason', reason],
    ['Run at', at],
  ],
}
