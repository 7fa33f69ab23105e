import { errorRule, type ErrorRule } from '../errors.ts'

/** SQLSTATEs that leave it to the words: all but those of a statement, its names and its values. */
const UNSPECIFIC_SQLSTATE = /^(?!0A|2[1-8]|3[DF]|42|54)/

/**
 * Where Redshift's errors differ from PostgreSQL's. Most of the engine's own have SQLSTATE XX000, so that their
 * messages distinguish them (https://docs.aws.amazon.com/redshift/latest/dg/queries-troubleshooting.html). Where the
 * SQLSTATE is specific, the message is ignored: `permission denied for schema spectrum` is about a schema of that name.
 */
export const REDSHIFT_RULES: readonly ErrorRule[] = [
  errorRule('timeout', {
    code: UNSPECIFIC_SQLSTATE,
    message: /WLM|query monitoring rule|monitoring rule/i,
  }).say(
    'A rule or time limit of the workload manager ended the statement: ask for a queue with more time, or check fewer rows or columns at once.',
  ),
  // The same words for statement_timeout, CANCEL and a request to cancel.
  errorRule('timeout', { code: '57014' }).say(
    'The statement ran over its time, its wait in the queue counted, or was cancelled in the cluster: allow more time, or check fewer rows or columns at once.',
  ),
  errorRule('timeout', {
    code: UNSPECIFIC_SQLSTATE,
    message: /serializable isolation violation|conflict with concurrent transaction/i,
  }).say('The statement met a concurrent change of the table: try again.'),
  errorRule('network', { code: UNSPECIFIC_SQLSTATE, message: /too many connections|connection limit/i }).say(
    'The cluster or the user has no connection free: try again later, or raise the limit.',
  ),
  errorRule('network', {
    code: UNSPECIFIC_SQLSTATE,
    message: /cluster is (being )?(resiz|paus|restart|rebooting)|workgroup .* (not available|unavailable)/i,
  }).say('The cluster is paused, resizing or restarting: try again when it is available.'),
  errorRule('credentials', { code: '', message: /authenticationOk message type/ }).say(
    'The password is stored in a form that this driver cannot answer: set it again with ALTER USER … PASSWORD of kind md5.',
  ),
  errorRule('permission', {
    code: UNSPECIFIC_SQLSTATE,
    message: /not authorized to (perform|assume|get credentials)|AccessDenied|UnauthorizedException/i,
  }).say(
    'The external schema is not allowed to read its catalog or files: grant its IAM role access to Glue and S3, or revoke USAGE on the schema from the user.',
  ),
  errorRule('permission', {
    code: UNSPECIFIC_SQLSTATE,
    message: /spectrum.*(403|forbidden)|S3.*(403|forbidden)/i,
  }).say('The files of the external table may not be read: grant its IAM role access to them in S3.'),
  errorRule('missing-object', {
    code: UNSPECIFIC_SQLSTATE,
    message: /EntityNotFoundException|external (table|schema|database) .*not found/i,
    fault: 'table',
  }),
  errorRule('other', { code: UNSPECIFIC_SQLSTATE, message: /spectrum|S3 query exception/i }).say(
    'Reading the files of the external table failed: check that they have the format and columns of the table.',
  ),
  errorRule('other', { code: UNSPECIFIC_SQLSTATE, message: /disk full/i }).say(
    'The cluster ran out of disk while it sorted or joined: check fewer columns at once, or free space.',
  ),
  errorRule('other', { code: UNSPECIFIC_SQLSTATE, message: /out of memory/i }).say(
    'The statement needed more memory than its queue gives: check fewer columns at once.',
  ),
  // Functions of the leader node beside tables of the compute nodes.
  errorRule('invalid-query', { message: /not supported on Redshift tables/i }).say(
    'The SQL has a function or a type that only the leader node has, which is not supported on tables: leave it out.',
  ),
  errorRule('invalid-query', { code: 'XX000', message: /divide by zero/i, fault: 'division' }),
  errorRule('invalid-query', {
    code: 'XX000',
    fault: 'value',
    message: /invalid (digit|exponent|operation|json|input)|overflow|out of range|length exceeds/i,
  }),
]
