/** Which release of the dashboard goes with the job engine of this version, as a test of a job's page shows. */

export const DASHBOARD = '@pg-boss/dashboard'
/** The release that is tested; `package.json` has the same one. */
export const DASHBOARD_RELEASE = '1.9.0'
/** Versions of the schema `pgboss` whose jobs it opens: its own engine's, and that of the engine of this version. */
export const openedSchemas: readonly number[] = [42, 43]

/**
 * What an operator has to know before the dashboard starts.
 * @param release the installed one's
 * @param schema the version of the schema in the database
 * @returns a sentence for each problem; jobs can be listed and sent again in spite of them
 */
export function findMismatches(release: string, schema: number): string[] {
  const mismatches: string[] = []
  if (release !== DASHBOARD_RELEASE)
    mismatches.push(
      `The dashboard ${release} is installed, and only ${DASHBOARD_RELEASE} is known to open single jobs: npm install ${DASHBOARD}@${DASHBOARD_RELEASE}`,
    )
  if (!openedSchemas.includes(schema))
    mismatches.push(
      `The queues have schema ${schema}, and the dashboard opens single jobs of schema ${openedSchemas.join(' and ')}: run this command of the version that migrated the database`,
    )
  return mismatches
}
